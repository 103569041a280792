package io.keyfold.spark.checkpoint

import io.keyfold.model.StoreLocation
import org.apache.hadoop.fs.Path
import org.apache.spark.sql.execution.streaming.state.StateStoreId

/** The checkpoint of a store, which Spark tells of only by its folder `state`. */
private[spark] object CheckpointPath {

  /** A batch query has a folder of its own in place of a checkpoint. */
  def of(store: StateStoreId): Path = {
    val root = new Path(store.checkpointRootLocation)
    if (root.getName == StoreLocation.State) root.getParent else root
  }
}

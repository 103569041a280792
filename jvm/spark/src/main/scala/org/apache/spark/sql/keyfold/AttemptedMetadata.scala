package org.apache.spark.sql.keyfold

import org.apache.hadoop.fs.Path
import org.apache.spark.sql.execution.streaming.state._

/** What Spark has written about the stateful operators of batches that are not committed. It writes
  * their metadata in the first batch of a run, before the batch's tasks, and never replaces them:
  * so what an attempt that failed had declared would count for the batch, also if the attempt that
  * commits it declares other state. Without them Spark writes them again.
  */
final class AttemptedMetadata(logs: CheckpointLogs) {
  private val files = SparkShim.CheckpointFileManager.create(logs.state, logs.hadoopConf)

  /** Removes them, for a query that is about to start. (Without a commit, and with an offset log
    * that goes on, the commit log is lost: nothing is known then.)
    */
  def remove(): Unit = {
    val last = logs.lastCommitted.getOrElse(-1L)
    if (!logs.isRunningHere && logs.lastBegun.forall(_ <= last + 1)) {
      for {
        operator <- logs.operatorFolders
        folder = new Path(logs.state, operator.toString)
        batch <- logs.operatorVersions(operator) if batch > last
      } files.delete(OperatorStateMetadataV2.metadataFilePath(folder, batch))
    }
  }
}

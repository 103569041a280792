package org.apache.spark.sql.keyfold

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.classic
import org.apache.spark.sql.execution.streaming.state.OfflineStateRepartitionRunner

/** Spark's own change of the number of partitions, as its `StreamingCheckpointManager` does it,
  * which Spark keeps to itself.
  */
object SparkRepartition {
  def run(session: SparkSession, checkpoint: String, to: Int): Unit = {
    new OfflineStateRepartitionRunner(session.asInstanceOf[classic.SparkSession], checkpoint, to)
      .run()
    ()
  }
}

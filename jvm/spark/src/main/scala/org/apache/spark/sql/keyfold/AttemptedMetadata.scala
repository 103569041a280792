package org.apache.spark.sql.keyfold

import java.util.UUID

import org.apache.hadoop.fs.Path
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.execution.streaming.sources.{
  WriteToMicroBatchDataSource,
  WriteToMicroBatchDataSourceV1
}
import org.apache.spark.sql.execution.streaming.state._

/** What Spark has written about the stateful operators of a batch that is not committed. It writes
  * their metadata in the first batch of a run, when it plans it, and never replaces them: so what
  * an attempt that failed had declared would count for the batch, also if the attempt that commits
  * it declares other state. Without them Spark writes them again.
  */
object AttemptedMetadata {

  /** Removes them, right before Spark plans the batch and writes its own. A start that fails before
    * removes nothing: another driver may still run the batch.
    */
  def remove(session: SparkSession, query: UUID, batch: Long): Unit =
    for (running <- Option(session.sharedState.activeStreamingQueries.get(query))) {
      val logs = new CheckpointLogs(session, running.resolvedCheckpointRoot)
      val files = SparkShim.CheckpointFileManager.create(logs.state, logs.hadoopConf)
      for (operator <- logs.operatorFolders) {
        val folder = new Path(logs.state, operator.toString)
        files.delete(OperatorStateMetadataV2.metadataFilePath(folder, batch))
      }
    }

  /** A batch of a stateful query that is about to be planned: the query's id, and its number. */
  object PlannedBatch {
    def unapply(plan: LogicalPlan): Option[(UUID, Long)] = plan match {
      case it: WriteToMicroBatchDataSourceV1 => of(it.query, it.queryId, it.batchId)
      case it: WriteToMicroBatchDataSource   => of(it.query, it.queryId, it.batchId)
      case _                                 => None
    }

    private def of(rows: LogicalPlan, query: String, batch: Option[Long]) =
      batch.filter(_ => StartedQuery.isStateful(rows)).map(UUID.fromString(query) -> _)
  }
}

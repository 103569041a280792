package io.keyfold.spark.plan

import java.util.UUID

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.execution.streaming.sources.{
  WriteToMicroBatchDataSource,
  WriteToMicroBatchDataSourceV1
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

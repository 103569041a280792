package io.keyfold.spark.start

import io.keyfold.errors.StoreError
import io.keyfold.spark.checkpoint.SinkChoice
import io.keyfold.spark.conf.{KeyfoldConf, ProviderClass}
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.keyfold.{CheckpointLogs, PlannedSubtasks, StartedQuery}

/** Looks at each query that starts, on the driver, and leaves all other plans alone.
  *
  * The plan may be analysed more than once for one start: a second look finds nothing to do.
  */
final class AtStart(session: SparkSession) extends (LogicalPlan => Unit) {

  /** @throws java.lang.IllegalArgumentException
    *   if the query cannot run with its checkpoint or its settings; nothing is changed then. Users
    *   of Python see its message without a Java stack, which they would see of our own errors
    */
  override def apply(plan: LogicalPlan): Unit = plan match {
    case StartedQuery(query) =>
      try check(query, PlannedSubtasks.in(plan))
      catch { case e: StoreError => throw new IllegalArgumentException(e.getMessage, e) }
    case _ => ()
  }

  private def check(query: StartedQuery, subtasks: Seq[PlannedSubtasks]): Unit = {
    val sink = query.fileSink.fold[SinkChoice](SinkChoice.NoFileSink)(SinkChoice.Folder)
    val logs = new CheckpointLogs(session, query.checkpoint)
    val last = LastBatch.of(logs)
    val provider = last.fold(session.conf.get(CheckpointLogs.ProviderKey))(_.provider)
    val refuse = new RefuseAtStart(session, sink)
    last.flatMap(refuse.otherFormat).foreach(throw _)
    val redistribute = new RedistributeAtStart(session)
    redistribute.check(subtasks)
    if (provider == ProviderClass.Keyfold) last.foreach(redistribute.run(_, subtasks))
    val isRescaled = provider == ProviderClass.Keyfold && {
      val conf = new KeyfoldConf(session.conf.getAll)
      conf.check()
      val rescale = new RescaleAtStart(session, sink)
      last.exists(batch => conf.partitions.exists(rescale.run(batch, _)))
    }
    if (!isRescaled) last.flatMap(refuse.unfinished).foreach(throw _)
    if (provider == ProviderClass.Keyfold) refuse.sinkAhead(logs).foreach(throw _)
  }
}

package io.keyfold.spark.start

import io.keyfold.errors.StoreError
import io.keyfold.spark.checkpoint.{SinkChoice, SinkNote}
import io.keyfold.spark.conf.{KeyfoldConf, ProviderClass}
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.keyfold.{CheckpointFiles, CheckpointLogs, PlannedSubtasks, StartedQuery}

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
    val logs = new CheckpointLogs(session, query.checkpoint)
    val sink = query.fileSink.fold[SinkChoice](SinkChoice.NoFileSink)(SinkChoice.Folder)
    if (query.isStateful || logs.hasState) {
      val last = lastBatch(logs)
      val refuse = new RefuseAtStart(session, sink)
      last.flatMap(refuse.unfinishedMigration).foreach(throw _)
      last.flatMap(refuse.otherFormat).foreach(throw _)
      if (last.isEmpty) refuse.missingProvider(logs).foreach(throw _)
      val provider = last.fold(session.conf.get(CheckpointLogs.ProviderKey))(_.provider)
      if (provider == ProviderClass.Keyfold) check(logs, last, refuse, sink, subtasks)
      // Who set Keyfold follows its messages, which say how the query goes on as it was.
      else if (isKeyfoldSet) refuse.sinkThatDoesNotFit(logs).foreach(throw _)
    } else if (logs.wasChanged) {
      // A rollback may have taken a query without state back, and not its sink.
      new RefuseAtStart(session, sink).fitSink(logs)
      noteSink(logs, sink, logs.lastStarted.getOrElse(-1L))
    }
  }

  /** What cannot be read of another provider's checkpoint is for Spark to report. */
  private def lastBatch(logs: CheckpointLogs) =
    try LastBatch.of(logs)
    catch {
      case _: StoreError if !isKeyfoldSet && !logs.wasChanged => None
    }

  private def isKeyfoldSet = session.conf.get(CheckpointLogs.ProviderKey) == ProviderClass.Keyfold

  private def check(
      logs: CheckpointLogs,
      last: Option[LastBatch],
      refuse: RefuseAtStart,
      sink: SinkChoice,
      subtasks: Seq[PlannedSubtasks]
  ): Unit = {
    val conf = new KeyfoldConf(session.conf.getAll)
    val begun = logs.lastStarted.getOrElse(-1L)
    conf.check()
    refuse.lostId(logs).foreach(throw _)
    val redistribute = new RedistributeAtStart(session)
    redistribute.check(subtasks)
    val unfinished = last.flatMap(refuse.unfinished)
    // A rescale that is not finished may have added its batch to the sink's log.
    if (unfinished.isEmpty) refuse.fitSink(logs)
    last.foreach(redistribute.run(_, subtasks))
    val rescale = new RescaleAtStart(session, sink)
    val isRescaled = last.exists(batch => conf.partitions.exists(rescale.run(batch, _)))
    if (!isRescaled && refuse.checksRescale) unfinished.foreach(throw _)
    if (unfinished.nonEmpty || isRescaled) refuse.fitSink(logs)
    noteSink(logs, sink, begun)
  }

  private def noteSink(logs: CheckpointLogs, sink: SinkChoice, begun: Long): Unit =
    SinkNote.write(
      new CheckpointFiles(logs.location, logs.hadoopConf),
      begun,
      isFileSink = sink != SinkChoice.NoFileSink
    )
}

package io.keyfold.spark.start

import io.keyfold.errors.StoreError
import io.keyfold.spark.checkpoint.{CheckpointLogs, OperatorMetadata}
import io.keyfold.spark.conf.{KeyfoldConf, ProviderClass}
import io.keyfold.spark.plan.{PlannedBatch, PlannedSubtasks, StartedQuery}
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.keyfold.SparkPrivate

/** Looks at each query that starts, on the driver, and at the first batch that its run plans, and
  * leaves all other plans alone.
  *
  * The plan may be analysed more than once for one start: a second look finds nothing to do.
  */
final class AtStart(session: SparkSession) extends (LogicalPlan => Unit) {
  import AtStart._

  /** Whether the session is a run's, and has planned a batch of it. */
  private var hasPlanned = false

  /** @throws java.lang.IllegalArgumentException
    *   if the query cannot run with its checkpoint or its settings; nothing is changed then. Users
    *   of Python see its message without a Java stack, which they would see of our own errors
    */
  override def apply(plan: LogicalPlan): Unit = plan match {
    case StartedQuery(query) =>
      try checkAtRest(query, PlannedSubtasks.in(plan))
      catch { case e: StoreError => throw new IllegalArgumentException(e.getMessage, e) }
    case PlannedBatch(query, batch) if !hasPlanned && isKeyfoldSet =>
      hasPlanned = true
      SparkPrivate
        .checkpointOfRun(session, query)
        .foreach(it => new OperatorMetadata(new CheckpointLogs(session, it)).remove(batch))
    case _ => ()
  }

  /** A run of the query that is still active, which Spark stops before the new one begins, changes
    * the logs while they are read. So what is refused is looked at again, until the logs stay as
    * they are.
    */
  private def checkAtRest(
      query: StartedQuery,
      subtasks: Seq[PlannedSubtasks],
      looks: Int = Looks,
      before: Option[(Option[Long], Option[Long])] = None
  ): Unit =
    try check(query, subtasks)
    catch {
      case e: StoreError =>
        val logs = new CheckpointLogs(session, query.checkpoint)
        val ends = (logs.lastBegun, logs.lastCommitted)
        if (looks <= 1 || before.contains(ends)) throw e
        checkAtRest(query, subtasks, looks - 1, Some(ends))
    }

  private def check(query: StartedQuery, subtasks: Seq[PlannedSubtasks]): Unit = {
    val logs = new CheckpointLogs(session, query.checkpoint)
    if (query.isStateful || logs.hasState) {
      if (isKeyfoldSet) logs.endWrite()
      val last = lastBatch(logs)
      val refuse = new RefuseAtStart(session, query.fileSink)
      last.flatMap(refuse.unfinishedMigration).foreach(throw _)
      last.flatMap(refuse.otherFormat).foreach(throw _)
      if (last.isEmpty) refuse.missingProvider(logs).foreach(throw _)
      val provider = last.fold(session.conf.get(CheckpointLogs.ProviderKey))(_.provider)
      if (provider == ProviderClass.Keyfold) check(logs, last, refuse, subtasks)
      // Who set Keyfold follows its messages, which say how the query goes on as it was.
      else if (isKeyfoldSet) refuse.sinkThatDoesNotFit(logs).foreach(throw _)
    } else if (logs.wasChanged) {
      // A rollback may have taken a query without state back, and not its sink.
      new RefuseAtStart(session, query.fileSink).fitSink(logs)
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
      subtasks: Seq[PlannedSubtasks]
  ): Unit = {
    val conf = new KeyfoldConf(session.conf.getAll)
    conf.check()
    refuse.lostId(logs).foreach(throw _)
    val redistribute = new RedistributeAtStart(session)
    redistribute.check(subtasks)
    val unfinished = last.flatMap(refuse.unfinished)
    refuse.fitSink(logs)
    last.foreach(redistribute.checkNames(_, subtasks))
    val isRescaled = last.exists(batch => conf.partitions.exists(batch.rescale(session, _)))
    if (!isRescaled && refuse.checksRescale) unfinished.foreach(throw _)
    if (isRescaled) refuse.fitSink(logs)
    // After the rescale, which goes by the subtasks that the last batch had.
    if (last.nonEmpty) redistribute.run(logs.location, subtasks)
  }
}

private object AtStart {

  /** How often a query is looked at that is refused each time. */
  private val Looks = 4
}

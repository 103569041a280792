package io.keyfold.spark.admin.evolve

import java.util.UUID

import io.keyfold.errors.Invalid
import io.keyfold.spark.admin.clone.{CheckpointClone, ClonePlanner}
import io.keyfold.spark.admin.write.{CommittedEnd, FirstBatch, StateWrite}
import io.keyfold.spark.checkpoint.{CheckpointFiles, CheckpointLogs, CheckpointTools, LogEntry}
import io.keyfold.spark.rewrite.StateRewrite
import org.apache.spark.sql.execution.streaming.state.OperatorStateMetadata
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.keyfold.EmptyInput
import org.apache.spark.sql.{AnalysisException, DataFrame}

/** Makes the checkpoint of a changed query, which goes on where the query before was stopped, with
  * its state. The checkpoint of that is only read: it is the way back.
  *
  * In a folder beside the target, Spark runs a first batch of the changed query without rows, which
  * gives schemas and metadata ([[FirstBatch]]); the rows are written into its tables
  * ([[StateWrite]]); then the state becomes that of the batch with the number of the last one of
  * the query before, with the offsets and the watermark of that, so that a sink which counts
  * batches goes on too; and the folder is cloned, the commit log last. A run that breaks off leaves
  * that folder, and perhaps a target without a commit, which is to be deleted.
  *
  * @param tools
  *   of the checkpoint of the query before, of any provider
  * @param to
  *   the new checkpoint; nothing may be there
  * @param before
  *   the query that wrote the state, as it was, if it is at hand: it tells aggregates apart
  */
private[admin] final class Evolution(
    tools: CheckpointTools,
    query: DataFrame,
    to: String,
    outputMode: String,
    before: Option[DataFrame],
    choices: Choices
) {
  import Evolution._
  import CheckpointTools.{progress, requireNone}
  import tools.{logs, session}

  private val target = new CheckpointFiles(to, logs.hadoopConf)
  private val beside = s"${target.location}.evolve-${UUID.randomUUID}"
  private val first =
    new FirstBatch(session, query, outputMode, beside, withInitialState = false)

  /** @param dryRun
    *   only plan: the folder beside the target is made, and deleted again
    * @throws io.keyfold.errors.Invalid
    *   if it is refused, or another process has changed the checkpoint meanwhile
    */
  def run(dryRun: Boolean): EvolutionPlan = {
    val end = logs.lastCommitted.filter(logs.settings(_).nonEmpty)
    val refusals = end.fold(Seq("It has no committed batch."))(refusalsOf)
    val last = end.getOrElse(-1L)
    if (refusals.nonEmpty) {
      done(EvolutionPlan(logs.location, target.location, last, refusals = refusals), dryRun)
    } else
      try {
        val begun = logs.lastBegun
        val (now, then) = withSettingsOf(last) {
          (first.run(watermarkMs(last)), before.map(planned))
        }
        CheckpointTools.using(session, beside) { made =>
          val planner = new EvolutionPlanner(tools, made, last, now, then, choices)
          val plan = done(planner.plan(target.location), dryRun)
          if (dryRun) plan else plan.copy(rows = Some(write(made, last, begun, planner)))
        }
      } finally first.delete()
  }

  private def done(plan: EvolutionPlan, dryRun: Boolean) = {
    val task = s"make a checkpoint of ${logs.location} for the query"
    if (!dryRun) requireNone(plan.refusals, "KEYFOLD_EVOLVE_REFUSED", task)
    plan
  }

  private def refusalsOf(last: Long): Seq[String] = {
    new ClonePlanner(tools).requireOutside(target)
    val ofTarget = Option.unless(target.isEmpty)(
      s"${target.location} is not empty; give a folder that does not exist, or delete this one if an " +
        "interrupted run has left it."
    )
    val others = Option.unless(logs.canStartAfter(last))(
      s"Batch $last cannot be gone on from, as the offsets of the batch before were deleted."
    )
    // Refuses metadata of an attempt that failed.
    val operators = logs.operators(last)
    val isOld = Option.when(
      logs.settings(last).exists(_.get(AggregationFormat).contains("1")) &&
        operators.exists(_.name == "stateStoreSave")
    )(s"Its aggregations have the state format of Spark 2.3 ($AggregationFormat is 1).")
    first.refusal.map(it => s"${it.capitalize}.").toSeq ++ ofTarget ++ others ++
      ofLog(last) ++ isOld ++ new CommittedEnd(tools).refusals(last)
  }

  private def ofLog(last: Long) = {
    val version = LogEntry.read(tools.files, s"offsets/$last").version
    Option.when(version != LogEntry.Version)(s"Its offset log is of format $version.")
  }

  private def watermarkMs(last: Long) =
    LogEntry.read(tools.files, s"commits/$last").nextWatermarkMs

  /** Settings that a checkpoint keeps stay, whatever the sessions of the queries have: they count
    * for all its batches.
    */
  private def withSettingsOf[T](batch: Long)(run: => T): T = {
    val its = logs.settings(batch).getOrElse(Map.empty) -- OfState
    val own = for {
      conf <- (query +: before.toSeq).map(_.sparkSession).distinct.map(_.conf)
      key <- its.keys
    } yield (conf, key, conf.getOption(key))
    try {
      own.foreach { case (conf, key, _) => conf.set(key, its(key)) }
      run
    } finally
      own.foreach { case (conf, key, value) => value.fold(conf.unset(key))(conf.set(key, _)) }
  }

  /** What the query before has, and how Spark describes its operators. Its output mode is not
    * known.
    */
  private def planned(query: DataFrame): (EmptyInput.Planned, Seq[OperatorStateMetadata]) = {
    val modes = Seq(outputMode, "update", "append", "complete").distinct
    val folder = s"$beside-before"
    // Only as far as needed.
    val tried = modes.to(LazyList).map { mode =>
      val its = new FirstBatch(session, query, mode, folder, withInitialState = false)
      try Right(its.run(0) -> new CheckpointLogs(session, folder).metadata(0))
      catch { case e: AnalysisException => Left(e) }
      finally its.delete()
    }
    tried.collectFirst { case Right(it) => it }.getOrElse(throw tried.head.left.toOption.get)
  }

  private def write(
      made: CheckpointTools,
      last: Long,
      begun: Option[Long],
      planner: EvolutionPlanner
  ): Long = {
    val written = planner.writes.map { case (table, rows) =>
      progress(s"writing table ${table.name} of operator ${table.operator}")
      val (put, quiet) = (Some(rows), (_: String) => ())
      new StateWrite(made, table.operator, table.name, put, None, replaces = false, quiet)
        .run()
        .put
        .get
    }
    progress(s"writing the state as that of batch $last")
    val end = made.logs.lastCommitted.get
    val ids = new StateRewrite(session, made.logs, end, last, Map.empty).write()
    new EvolvedLogs(tools, made, last, planner.sources).write(end, ids.get)
    if (!logs.lastCommitted.contains(last) || logs.lastBegun != begun) {
      throw new Invalid(
        "KEYFOLD_CONCURRENT_UPDATE",
        s"Cannot make a checkpoint of ${logs.location}: its query, or another command, has gone on " +
          s"after batch $last meanwhile. Stop it, and run the command again. Nothing was changed."
      )
    }
    CheckpointTools.using(session, beside) {
      new CheckpointClone(_, to, Some(last), newQuery = true).run()
    }
    written.sum
  }
}

private object Evolution {

  private val AggregationFormat = SQLConf.STREAMING_AGGREGATION_STATE_FORMAT_VERSION.key

  /** Settings of how state is kept, which is new in the new checkpoint. */
  private val OfState = Set(
    CheckpointLogs.ProviderKey,
    CheckpointLogs.FormatKey,
    CheckpointLogs.StrictKey,
    CheckpointLogs.WriteKey
  )
}

package io.keyfold.spark.admin.migrate

import scala.util.control.NonFatal

import io.keyfold.errors.Invalid
import io.keyfold.spark.checkpoint.{CheckpointLogs, CheckpointTools, Command}
import io.keyfold.spark.conf.ProviderClass
import io.keyfold.spark.rewrite.StateRewrite

/** Migrates the state of a stopped query from HDFSBacked or RocksDB to Keyfold.
  *
  * Batch R + 1, which reads no data, is entered in the offset log; Keyfold writes all rows of the
  * newest batch R as its state; then it is entered in the commit log. The first entry keeps the old
  * provider out, which would read Keyfold's files, and whose own might be replaced, as HDFSBacked
  * uses the same names. So the old state is never changed. A second run after a crash writes all
  * state again.
  */
final class Migration(tools: CheckpointTools, progress: String => Unit) {
  import CheckpointLogs.ProviderKey
  import tools.{logs, session}

  /** The planned migration, or why it is refused. Reads only.
    *
    * @throws io.keyfold.errors.Invalid
    *   if a file of Spark's that describes the state cannot be read
    */
  def plan(): MigrationPlan = logs.lastCommitted match {
    case None        => MigrationPlan(logs.location, -1, "", 0, Nil, Seq(nothingCommitted))
    case Some(batch) =>
      if (logs.isBuiltIn(batch)) {
        new StateRewrite(session, logs, batch, batch + 1, Map.empty).requireSchemas()
      }
      MigrationPlan(
        logs.location,
        batch,
        logs.providerOf(batch).getOrElse(""),
        logs.partitions(batch).getOrElse(0),
        logs.operators(batch),
        new MigrationRefusals(tools, batch).all
      )
  }

  /** Runs the migration.
    *
    * @return
    *   the plan that was applied
    * @throws io.keyfold.errors.Invalid
    *   if it is refused, a batch was begun meanwhile, or the old provider cannot read its state:
    *   then the migration is undone
    */
  def apply(): MigrationPlan = {
    val plan = this.plan()
    val task = s"migrate ${logs.location}"
    CheckpointTools.requireNone(plan.refusals, "KEYFOLD_MIGRATE_REFUSED", task)
    val (from, batch) = (plan.lastBatch, plan.lastBatch + 1)
    val settings = Map(ProviderKey -> ProviderClass.Keyfold)
    progress(s"beginning batch $batch")
    if (!logs.begin(batch, from, settings) && !logs.isKeyfolds(batch)) throw lost(batch)
    progress(s"writing the state of batch $from with Keyfold, ${plan.partitions} partitions")
    val ids =
      try new StateRewrite(session, logs, from, batch, settings).write()
      catch {
        case e: Invalid =>
          new MigrationUndo(tools).apply()
          throw e
        case NonFatal(e) => throw failed(batch, e)
      }
    progress(s"committing batch $batch")
    // An undo may have taken the batch away meanwhile, and its state.
    if (!logs.isKeyfolds(batch) || !logs.commit(batch, from, ids)) throw lost(batch)
    plan
  }

  private def lost(batch: Long) = new Invalid(
    "KEYFOLD_CONCURRENT_UPDATE",
    s"Cannot migrate ${logs.location}: another process has started, committed or removed batch $batch " +
      "meanwhile. Stop it, and run the command again."
  )

  private def failed(batch: Long, cause: Throwable) = new Invalid(
    "KEYFOLD_MIGRATE_UNFINISHED",
    s"The migration of ${logs.location} has begun batch $batch and failed to write its state: $cause. " +
      s"To finish it, run `${Command.migrate(logs.location)}`. To give it up, run " +
      s"`${Command.undoMigrate(logs.location)}`. The old state was not changed.",
    cause
  )

  private def nothingCommitted = "No batch is committed yet: start the query with Keyfold on a " +
    "new checkpoint."
}

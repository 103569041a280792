package io.keyfold.spark.admin.migrate

import io.keyfold.errors.Invalid
import io.keyfold.spark.checkpoint.{Command, SinkChoice}
import io.keyfold.spark.conf.ProviderClass
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.keyfold.{CheckpointLogs, StateRewrite}

/** Migrates the state of a stopped query from HDFSBacked or RocksDB to Keyfold.
  *
  * Keyfold writes all rows of the newest batch R as the state of batch R + 1, which reads no data;
  * then that batch is entered in the offset log and the commit log. Until the first of these
  * entries the old provider can use the checkpoint as before, and the old state is never changed. A
  * second run after a crash starts over.
  *
  * @param sink
  *   the query's file sink, which the checkpoint does not name
  */
final class Migration(
    session: SparkSession,
    checkpoint: String,
    sink: SinkChoice,
    progress: String => Unit
) {
  import CheckpointLogs.{FormatKey, ProviderKey, StrictKey}
  import Migration._
  import ProviderClass.{BuiltIn, Keyfold}

  private val logs = new CheckpointLogs(session, checkpoint)

  /** The planned migration, or why it is refused. Reads only.
    *
    * @throws io.keyfold.errors.Invalid
    *   if a file of Spark's that describes the state cannot be read
    */
  def plan(): MigrationPlan = logs.lastCommitted match {
    case None        => MigrationPlan(logs.location, -1, "", 0, Nil, Seq(nothingCommitted))
    case Some(batch) =>
      val settings = logs.settings(batch).getOrElse(Map.empty)
      if (settings.get(ProviderKey).exists(BuiltIn.contains)) {
        new StateRewrite(session, logs, batch, Map.empty).requireSchemas()
      }
      MigrationPlan(
        logs.location,
        batch,
        settings.getOrElse(ProviderKey, ""),
        logs.partitions(batch).getOrElse(0),
        logs.operators(batch).map(it => MigratedOperator(it.id, it.name, it.stores)),
        refusals(batch, settings)
      )
  }

  /** Runs the migration.
    *
    * @return
    *   the plan that was applied
    * @throws io.keyfold.errors.Invalid
    *   if it is refused, or a batch was begun meanwhile
    */
  def apply(): MigrationPlan = {
    val plan = this.plan()
    if (plan.refusals.nonEmpty) {
      throw new Invalid(
        "KEYFOLD_MIGRATE_REFUSED",
        s"Cannot migrate ${logs.location}: ${plan.refusals.mkString(" ")} Nothing was changed."
      )
    }
    val (from, batch) = (plan.batch, plan.batch + 1)
    val settings = Map(ProviderKey -> Keyfold)
    progress(s"writing the state of batch $from with Keyfold, ${plan.partitions} partitions")
    val ids = new StateRewrite(session, logs, from, settings).write()
    progress(s"committing batch $batch")
    if (!logs.begin(batch, from, settings) && !isOurs(batch)) throw lost(batch)
    sink match {
      case SinkChoice.Folder(path) => logs.fileSink(path).foreach(_.addEmpty(batch))
      case _                       => ()
    }
    if (!logs.commit(batch, from, ids)) throw lost(batch)
    plan
  }

  private def refusals(batch: Long, settings: Map[String, String]): Seq[String] = {
    val provider = settings.getOrElse(ProviderKey, "")
    val once =
      s"Set $FormatKey=${logs.formatOf(batch)} for the query, and start it once with the " +
        "trigger AvailableNow:"
    Seq(
      Option.when(provider == Keyfold)("Its state is already Keyfold's."),
      Option.when(settings.isEmpty)(
        s"The offset log does not have batch $batch, its last. Restore ${logs.location}/offsets/$batch " +
          s"from a copy. Or delete ${logs.location}/commits/$batch, which drops the batch, and run " +
          s"`$again` again: the input of that batch is then read again, and the sink gets its rows again."
      ),
      Option.when(settings.nonEmpty && provider != Keyfold && !BuiltIn.contains(provider))(
        s"Its state store provider is '$provider'; only ${BuiltIn.mkString(" and ")} can be read."
      ),
      Option.when(logs.isRunningHere)("Its query is running; stop it first."),
      logs.lastBegun
        .filter(_ > batch + 1)
        .map(begun =>
          s"The commit log ends at batch $batch, and the offset log at $begun: entries are lost. " +
            "Restore them from a copy. " +
            (if (isOurs(begun) && isOurs(begun - 1) && isOurs(begun - 2))
               "Without them nothing says which files have the state that Keyfold has written since."
             else if (isOurs(begun))
               s"Or undo the earlier migration by `${Command.undoMigrate(logs.location, sink)}`."
             else s"Or: $once Spark runs batch $begun again and stops. Then migrate.")
        ),
      Option.when(logs.lastBegun.contains(batch + 1) && !isOurs(batch + 1))(
        s"Batch ${batch + 1} was started but not committed. $once it finishes that batch with its " +
          "current provider and stops. Then migrate. If it fails because its state cannot be read, " +
          s"delete ${logs.location}/offsets/${batch + 1}, which drops the batch, and run `$again` again: " +
          "it says what cannot be read."
      ),
      Option.unless(settings.isEmpty || settings.get(StrictKey).contains("true"))(
        s"It was written with $StrictKey=false (by an old Spark version): its rows may be in " +
          "partitions that their keys do not belong to. Start the query on a new checkpoint."
      ),
      Option.when(logs.operators(batch).isEmpty)(
        if (logs.hasState)
          "Spark's description of its operators is lost, or it ran on a Spark before 4.0. " +
            s"$once Spark writes the description again. Then migrate."
        else "It has no operator metadata: the query has no state."
      ),
      Option.when(sink == SinkChoice.NotSaid)(SinkNotSaid),
      Some(sink).collect { case SinkChoice.Folder(path) => logs.fileSink(path) }.flatMap {
        case None      => Some("The folder of the file sink has no log, _spark_metadata.")
        case Some(log) =>
          val ends = log.lastBatch
          val fits = ends.contains(batch) || ends.contains(batch + 1) && isOurs(batch + 1)
          Option.unless(fits)(
            s"The log of the file sink ends at batch ${ends.getOrElse("none")}, and the commit log at " +
              s"$batch: it is another query's, or the driver ended between the two commits of a batch. " +
              s"If it did: $once it completes that batch and stops. Then migrate."
          )
      }
    ).flatten
  }

  private def again = Command.migrate(logs.location, sink)

  private def isOurs(batch: Long) = logs.providerOf(batch).contains(Keyfold)

  private def lost(batch: Long) = new Invalid(
    "KEYFOLD_CONCURRENT_UPDATE",
    s"Cannot migrate ${logs.location}: another process has started or committed batch $batch " +
      "meanwhile. Stop the query, and check the checkpoint."
  )

  private def nothingCommitted = "No batch is committed yet: start the query with Keyfold on a " +
    "new checkpoint."
}

object Migration {
  private[migrate] val SinkNotSaid =
    "If the query writes to a file sink, pass its folder as sink path, so that its log gets an " +
      "entry for the batch; if not, say that there is no file sink."
}

package io.keyfold.spark.start

import io.keyfold.errors.{Invalid, RescaleRefused}
import io.keyfold.spark.checkpoint.{CheckpointLogs, Command, IfReadable}
import io.keyfold.spark.conf.ProviderClass
import org.apache.spark.SPARK_VERSION
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.keyfold.{SparkPrivate, SparkShim}

/** Explains, before a query has written anything, why it cannot go on with its checkpoint. Spark's
  * own errors come when the next batch has begun, and do not say what to do: they name a version of
  * a log, a missing file, or an index that an array does not have.
  */
private[start] final class RefuseAtStart(session: SparkSession, sinkPath: Option[String]) {
  import CheckpointLogs.{FormatKey, ProviderKey, VerifiesIdKey}
  import RefuseAtStart._

  /** Whether the checkpoint cannot go on under the format that is set. */
  def otherFormat(last: LastBatch): Option[Invalid] = IfReadable("the checkpoint format") {
    val wanted = session.conf.get(FormatKey).toInt
    val next = SparkShim.continuesUnder(last.format, wanted)
    val isOther = ProviderClass.BuiltIn.contains(last.provider)
    if (isOther && last.format == 1 && !next.contains(1) && last.logs.hasState)
      Some(otherProvider(last))
    else
      Option.when(next.isEmpty || losesIds(last, next))(
        new Invalid(
          "KEYFOLD_CHECKPOINT_FORMAT",
          s"The checkpoint ${last.logs.location} was written under checkpoint format " +
            s"${last.format}, and $FormatKey=$wanted is set. Spark $SPARK_VERSION cannot continue it " +
            s"under that format: set $FormatKey=${last.format} for this query before it starts. " +
            "Nothing was changed."
        )
      )
  }

  /** Under format 1 the next batch would be committed without the ids that the one after it needs.
    */
  private def losesIds(last: LastBatch, next: Option[Int]) =
    last.provider == ProviderClass.Keyfold && last.format > 1 && next.contains(1) &&
      last.logs.hasState

  /** HDFSBacked does not support format 2, and RocksDB does not find the ids of earlier batches. */
  private def otherProvider(last: LastBatch) = new Invalid(
    "KEYFOLD_OTHER_PROVIDER",
    s"The state in ${last.logs.location}/state was written by ${last.provider}, under checkpoint " +
      s"format 1. A checkpoint keeps its provider, and Spark cannot continue it under $FormatKey=2, " +
      s"which is set for Keyfold. To move the state to Keyfold, run " +
      s"`${Command.migrate(last.logs.location)}` and start the query again. To continue with " +
      s"that provider, set $FormatKey=1 for this query before it starts. Or start with a new " +
      "checkpoint location. Nothing was changed."
  )

  /** Whether a migration was begun, and Spark would run its batch as one of the query's. */
  def unfinishedMigration(last: LastBatch): Option[Invalid] = IfReadable("for a migration") {
    val begun = last.logs.lastBegun.filter(_ > last.batch)
    Option.when(
      ProviderClass.BuiltIn.contains(last.provider) && begun.exists(last.logs.isKeyfolds)
    )(
      new Invalid(
        "KEYFOLD_MIGRATE_UNFINISHED",
        s"A migration of ${last.logs.location} to Keyfold has begun batch ${begun.get}, and the commit " +
          s"log ends at batch ${last.batch}, of ${last.provider}. To finish the migration, run " +
          s"`${Command.migrate(last.logs.location)}`. To give it up, run " +
          s"`${Command.undoMigrate(last.logs.location)}`. The query was not started."
      )
    )
  }

  /** Whether the class of the provider that the first batch will run with is missing. Spark writes
    * its name into the offset log when the batch begins, and does not read the setting again.
    */
  def missingProvider(logs: CheckpointLogs): Option[Invalid] = IfReadable("the provider") {
    val begun = logs.lastBegun.flatMap(logs.providerOf)
    val name = begun.getOrElse(session.conf.get(ProviderKey))
    val (where, remedy) =
      if (begun.isEmpty)
        (s"$ProviderKey is $name", s"Set it to ${ProviderClass.Keyfold} for Keyfold")
      else
        (
          s"The first batch of ${logs.location} was begun with the provider $name",
          "Start with a new checkpoint location"
        )
    Option.when(SparkPrivate.classNamed(name).isEmpty)(
      new Invalid(
        "KEYFOLD_PROVIDER_MISSING",
        s"$where, a class that the driver does not have. $remedy, or add the jar that has it. " +
          "Nothing was changed."
      )
    )
  }

  /** Whether Spark refuses the checkpoint because the file with the query's id is lost.
    *
    * @throws io.keyfold.errors.Invalid
    *   if the file is there, and Spark cannot read it
    */
  def lostId(logs: CheckpointLogs): Option[Invalid] = {
    val isLost = logs.queryId.isEmpty && logs.lastInLogs.nonEmpty
    Option.when(isLost && session.conf.getOption(VerifiesIdKey).exists(_.toBoolean))(
      new Invalid(
        "KEYFOLD_CHECKPOINT_DAMAGED",
        s"The file ${logs.location}/metadata, which has the id of the query, is lost. The query was " +
          s"not started. Restore it from a copy, or set $VerifiesIdKey=false for the next start. " +
          CheckpointLogs.NewId
      )
    )
  }

  /** Why a rescale must be finished first. */
  def unfinished(last: LastBatch): Option[RescaleRefused] = IfReadable("for a rescale") {
    if (last.provider == ProviderClass.Keyfold) last.unfinishedRescale(session) else None
  }

  /** Whether a query must not start before its rescale is finished. */
  def checksRescale: Boolean = session.conf.get(ChecksRescale, "true").toBoolean

  /** Refuses a file sink whose log does not fit the checkpoint, which Spark does not compare, and
    * gives a new log what the query needs.
    *
    * @throws io.keyfold.errors.Invalid
    *   if it does not fit
    */
  def fitSink(logs: CheckpointLogs): Unit = for (sink <- sinkOf(logs)) {
    sink.refusal.foreach(throw _)
    sink.complete()
  }

  /** Whether the log of a file sink does not fit the checkpoint. */
  def sinkThatDoesNotFit(logs: CheckpointLogs): Option[Invalid] = sinkOf(logs).flatMap(_.refusal)

  private def sinkOf(logs: CheckpointLogs) = sinkPath.map(new SinkAtStart(logs, _))
}

private object RefuseAtStart {

  /** By the name and the default that the setting has in later lines. */
  private val ChecksRescale = "spark.sql.streaming.checkUnfinishedRepartitionOnRestart"
}

package io.keyfold.spark.start

import scala.util.Try

import io.keyfold.errors.{Invalid, RescaleRefused}
import io.keyfold.spark.checkpoint.{Command, SinkChoice}
import io.keyfold.spark.conf.ProviderClass
import org.apache.spark.SPARK_VERSION
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.keyfold.{CheckpointLogs, SparkShim}

/** Explains, before a query has written anything, why it cannot go on with its checkpoint. Spark's
  * own errors come when the next batch has begun, and do not say what to do: they name a version of
  * a log, a missing file, or an index that an array does not have.
  */
private[start] final class RefuseAtStart(session: SparkSession, sink: SinkChoice) {
  import CheckpointLogs.FormatKey
  import RefuseAtStart._

  /** What cannot be read is for Spark to report. */
  private def ifReadable[T](reason: => Option[T]) = Try(reason).toOption.flatten

  /** Whether the checkpoint cannot go on under the format that is set. */
  def otherFormat(last: LastBatch): Option[Invalid] = ifReadable {
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
      s"`${Command.migrate(last.logs.location, sink)}` and start the query again. To continue with " +
      s"that provider, set $FormatKey=1 for this query before it starts. Or start with a new " +
      "checkpoint location. Nothing was changed."
  )

  /** Whether a rescale must be finished first. */
  def unfinished(last: LastBatch): Option[RescaleRefused] = ifReadable {
    if (last.provider == ProviderClass.Keyfold && session.conf.get(ChecksRescale, "true").toBoolean)
      last.unfinishedRescale(session, sink)
    else None
  }

  /** Whether the log of the file sink has the batch that runs next: because the driver ended
    * between the sink's commit and the query's, or because the query went back without its sink.
    * Spark does not run such a batch (`FileStreamSink.addBatch`), so its state is missing
    * afterwards. Only under format 1 the state that the first run has written is found.
    */
  def sinkAhead(logs: CheckpointLogs): Option[Invalid] = ifReadable {
    for {
      folder <- Some(sink).collect { case SinkChoice.Folder(path) => path }
      log <- logs.fileSink(folder)
      newest <- log.lastBatch
      last = logs.lastCommitted
      next = last.fold(0L)(_ + 1)
      isOpen = logs.lastBegun.contains(next) && newest == next
      if newest >= next && logs.hasState && !(isOpen && isFormat1(logs, last))
    } yield new Invalid(
      "KEYFOLD_SINK_AHEAD",
      s"The log of the file sink in $folder has batch $newest, and the newest committed batch of " +
        s"${logs.location} is ${last.fold("none")(_.toString)}. Spark would not run batch $next again, " +
        "and its state would be missing. The query was not started. " +
        (if (isOpen) openRemedy(next) else "") + last.fold("")(sinkRemedy(logs, _))
    )
  }

  private def isFormat1(logs: CheckpointLogs, last: Option[Long]) =
    last.fold(session.conf.get(FormatKey).toInt)(logs.formatOf) == 1

  private def openRemedy(batch: Long) =
    s"The driver ended between the two commits of batch $batch, whose output is complete. To keep it, " +
      "start the query once with .format(\"noop\").trigger(once=True) instead of its sink and trigger: " +
      s"this computes the state of batch $batch, writes no output, and stops. Then start the query as " +
      "before. "

  private def sinkRemedy(logs: CheckpointLogs, last: Long) =
    s"To take the sink's log back to batch $last, run `${Command.rollback(logs.location, last, sink)}`: " +
      "the query writes the output of later batches again, and who has read it already reads it twice."
}

private object RefuseAtStart {

  /** By the name and the default that the setting has in later lines. */
  private val ChecksRescale = "spark.sql.streaming.checkUnfinishedRepartitionOnRestart"
}

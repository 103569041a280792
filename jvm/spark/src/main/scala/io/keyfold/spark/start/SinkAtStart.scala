package io.keyfold.spark.start

import io.keyfold.errors.Invalid
import io.keyfold.spark.admin.rollback.SinkAside
import io.keyfold.spark.checkpoint.{Command, SinkChoice}
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.keyfold.CheckpointLogs

/** Compares the log of a file sink with the checkpoint of its query. Each batch has an entry, and
  * the last entry is to be of the last committed batch.
  *
  * Spark does not run a batch that the log has (`FileStreamSink.addBatch`), so its output, and
  * under format 2 its state, would be missing. A log that lacks batches can no longer be read once
  * Spark compacts it.
  *
  * @param folder
  *   the sink's
  */
private[start] final class SinkAtStart(
    session: SparkSession,
    logs: CheckpointLogs,
    folder: String
) {
  private val sink = SinkChoice.Folder(folder)
  private val last = logs.lastCommitted
  private val afterLast = last.fold(0L)(_ + 1)

  /** The batch that Spark runs: the newest that was begun, even if commits before it are lost. */
  private val next = logs.lastBegun.fold(afterLast)(math.max(_, afterLast))

  /** None if they fit, or if the sink has no log yet. */
  def refusal: Option[Invalid] =
    for {
      newest <- logs.fileSink(folder).flatMap(_.lastBatch)
      refused <-
        if (newest >= next) ahead(newest) else last.filter(newest < _).map(behind(newest, _))
    } yield refused

  private def ahead(newest: Long): Option[Invalid] = {
    val isOpen = logs.lastBegun.contains(next) && newest == next
    // Under format 1 the state that the first run has written is found.
    Option.when(!(isOpen && isFormat1))(
      new Invalid(
        "KEYFOLD_SINK_AHEAD",
        s"The log of the file sink in $folder has batch $newest, and the newest committed batch of " +
          s"${logs.location} is ${last.fold("none")(_.toString)}. Spark would not run batch $next " +
          "again, and its output or its state would be missing. The query was not started. " +
          (if (isOpen && next == afterLast) openRemedy else "") + last.fold(otherFolder)(
            aheadRemedy
          )
      )
    )
  }

  private def isFormat1 = session.conf.get(CheckpointLogs.FormatKey).toInt == 1 &&
    last.forall(logs.formatOf(_) == 1)

  private def openRemedy =
    s"If the driver ended between the two commits of batch $next, the output of the batch is complete. " +
      "To keep it, start the query once with .format(\"noop\").trigger(once=True) instead of its sink " +
      s"and trigger: this computes the state of batch $next, writes no output, and stops. Then start " +
      "the query as before. "

  private def otherFolder =
    "If another checkpoint wrote to this folder, start with that checkpoint, or write to a new folder."

  private def aheadRemedy(last: Long) =
    s"To take the sink's log back to batch $last, run `${Command.rollback(logs.location, last, sink)}`: " +
      "the query writes the output of later batches again, and who has read it already reads it twice."

  private def behind(newest: Long, last: Long) = new Invalid(
    "KEYFOLD_SINK_BEHIND",
    s"The log of the file sink in $folder ends at batch $newest, and the newest committed batch of " +
      s"${logs.location} is $last. The output of the batches between them would be missing. The " +
      s"query was not started. ${setAside(newest)}${behindRemedy(newest)}"
  )

  /** Where the missing entries are, if a rollback took them. */
  private def setAside(newest: Long) =
    SinkAside.holding(folder, newest + 1, logs.hadoopConf).fold("") { place =>
      s"A rollback has set later entries aside: to put them back, move the files in " +
        s"$place to $folder/${SinkAside.Log}. "
    }

  private def behindRemedy(newest: Long) =
    if (logs.hasCommitted(newest) && logs.canStartAfter(newest))
      s"To take the query back to batch $newest, run " +
        s"`${Command.rollback(logs.location, newest, SinkChoice.NotSaid)}`: it computes the later " +
        "batches again, and writes their output."
    else
      s"The checkpoint no longer has batch $newest. If this is not the folder that the query has " +
        "written to, correct it. Else write to a sink of another kind, or start with a new checkpoint " +
        "location and a new folder."
}

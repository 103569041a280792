package io.keyfold.spark.start

import io.keyfold.errors.Invalid
import io.keyfold.spark.admin.rollback.SinkAside
import io.keyfold.spark.checkpoint.{Command, SinkChoice}
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.keyfold.{CheckpointFiles, CheckpointLogs}

/** Compares the log of a file sink with the checkpoint of its query. Each batch has an entry, and
  * the last entry is to be of the last committed batch. Entries of batches that have run again
  * without the sink, as the checkpoint's note of its sinks tells, are not of these batches.
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
  import SinkAtStart._

  private val sink = SinkChoice.Folder(folder)
  private val files = new CheckpointFiles(logs.location, logs.hadoopConf)
  private val last = logs.lastCommitted
  private val afterLast = last.fold(0L)(_ + 1)

  /** The batch that Spark runs: the newest that was begun, even if commits before it are lost. */
  private val next = logs.lastBegun.fold(afterLast)(math.max(_, afterLast))

  /** Gives the log what Spark wants to find in it and does not write itself:
    *
    *   - in a new folder, for a query that has committed batches, entries without files for them:
    *     Spark reads a log from its beginning, or from an entry that it has compacted;
    *   - the compacted form of a rescale's entry, if by the settings of this query its batch
    *     compacts the log. The session that rescaled it may have had others.
    */
  def complete(): Unit = last.foreach { last =>
    logs.fileSink(folder) match {
      case Some(log) if log.lastBatch.nonEmpty => log.compactEmpty()
      case _                                   => logs.newFileSink(folder).beginAfter(last)
    }
  }

  /** None if they fit, or if the sink's folder is new. */
  def refusal: Option[Invalid] = logs.fileSink(folder).flatMap(damaged).orElse {
    logs.fileSink(folder).flatMap(_.lastBatch) match {
      case Some(newest) if newest >= next => ahead(newest)
      case Some(newest)                   =>
        last.flatMap(of => if (newest < of) Some(behind(newest, of)) else stale(of))
      case None => last.filter(_ => logs.newFileSink(folder).hasOutput).map(withoutLog)
    }
  }

  private def damaged(log: CheckpointLogs.FileSink) = log.firstDamaged.map { batch =>
    new Invalid(
      "KEYFOLD_SINK_DAMAGED",
      s"The log of the file sink in $folder has no entry of batch $batch that Spark could read: it " +
        "is lost, or not whole. Spark could not read the output. The query was not started. Restore " +
        s"the file $folder/${SinkAside.Log}/$batch, or $batch.compact, from a copy. Else " +
        (if (isWayBack(log, batch - 1)) backTo(batch - 1) else NewFolder)
    )
  }

  /** Whether the query and the log can both end at a batch. */
  private def isWayBack(log: CheckpointLogs.FileSink, batch: Long) = batch >= 0 &&
    logs.hasCommitted(batch) && logs.canStartAfter(batch) && log.canEndAt(batch)

  private def backTo(batch: Long) =
    s"take the query and the log back to batch $batch, by " +
      s"`${Command.rollback(logs.location, batch, sink)}`: $TwiceRead"

  private def stale(last: Long) = for {
    note <- SinkNote.read(files) if !note.isFileSink
    log <- logs.fileSink(folder)
    batch <- log.firstWithFiles(note.after) if batch <= last
  } yield new Invalid(
    "KEYFOLD_SINK_STALE",
    s"Batches ${note.after + 1} to $last of ${logs.location} ran while the query had a sink of another kind, and " +
      s"the log of the file sink in $folder has an entry of batch $batch with files, which a run " +
      "before a rollback wrote. The output of the later run would be missing there. The query was " +
      s"not started. To have it there, ${if (isWayBack(log, note.after)) backTo(note.after)
        else NewFolder}"
  )

  private def withoutLog(last: Long) = new Invalid(
    "KEYFOLD_SINK_BEHIND",
    s"The folder $folder of the file sink has files and no log of them, ${SinkAside.Log}, and the " +
      s"newest committed batch of ${logs.location} is $last. Spark could not read the output. The " +
      "query was not started. Restore the log from a copy, or write to a new folder."
  )

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
    if (!logs.fileSink(folder).forall(_.canEndAt(last)))
      s"The log cannot go back to batch $last, since Spark has compacted the batches before it into a " +
        s"later entry and deleted their own: $NewFolder"
    else
      s"To take the sink's log back to batch $last, run `${Command.rollback(logs.location, last, sink)}`: " +
        TwiceRead

  private def behind(newest: Long, last: Long) = new Invalid(
    "KEYFOLD_SINK_BEHIND",
    s"The log of the file sink in $folder ends at batch $newest, and the newest committed batch of " +
      s"${logs.location} is $last. The output of the batches between them would be missing. The " +
      s"query was not started. ${setAside(newest, last)}${behindRemedy(newest)}"
  )

  /** Where the missing entries are, if a rollback of another query took them. What a rollback of
    * this one took is of batches that have run again since.
    */
  private def setAside(newest: Long, last: Long) = {
    val own = files.folders("keyfold").toSet
    SinkAside
      .holding(folder, newest + 1 to last, logs.hadoopConf)
      .collectFirst { case (name, place) if !own(name) => place }
      .fold("") { place =>
        s"A rollback of another query has set these entries aside: to put them back, move the files " +
          s"in $place to $folder/${SinkAside.Log}. "
      }
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

private object SinkAtStart {
  private val TwiceRead =
    "the query writes the output of later batches again, and who has read it already reads it twice."
  private val NewFolder =
    "write to a new folder, whose log begins where the checkpoint is: the rows of earlier batches are " +
      "in the files of this one."
}

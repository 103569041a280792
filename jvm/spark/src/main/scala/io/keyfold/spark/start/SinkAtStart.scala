package io.keyfold.spark.start

import scala.util.Try

import io.keyfold.errors.Invalid
import io.keyfold.spark.admin.rollback.SinkAside
import io.keyfold.spark.checkpoint.{Command, SinkChoice, SinkNote}
import io.keyfold.spark.conf.ProviderClass
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.keyfold.{CheckpointFiles, CheckpointLogs, FileSink}

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
    val folder: String
) {
  import SinkAtStart._

  private val sink = SinkChoice.Folder(folder)
  private val files = new CheckpointFiles(logs.location, logs.hadoopConf)
  private val last = logs.lastCommitted
  private val afterLast = last.fold(0L)(_ + 1)

  /** The batch that Spark runs: the newest that was begun, even if commits before it are lost. */
  private val next = logs.lastBegun.fold(afterLast)(math.max(_, afterLast))

  /** The last batch that Spark does not run again. */
  private val done = Option.when(next > 0)(next - 1)

  /** Gives the log what Spark wants to find in it and does not write itself:
    *
    *   - in a new folder, for a query that has committed batches, entries without files for them:
    *     Spark reads a log from its beginning, or from an entry that it has compacted;
    *   - the compacted entry that the settings of this query ask for.
    */
  def complete(): Unit = done.foreach { done =>
    logs.fileSink(folder) match {
      case Some(log) if log.lastBatch.nonEmpty => log.compact()
      case _                                   => logs.newFileSink(folder).beginAfter(done)
    }
  }

  /** None if they fit, or if the sink's folder is new. */
  def refusal: Option[Invalid] =
    logs.fileSink(folder).flatMap(it => it.lastBatch.map(it -> _)) match {
      case Some((log, newest)) =>
        done.filter(newest < _).map(behind(log, newest, _)).orElse(damaged(log)).orElse {
          if (newest >= next) ahead(log, newest) else done.flatMap(stale(log, _))
        }
      case None => done.filter(_ => logs.newFileSink(folder).hasOutput).map(withoutLog)
    }

  private def damaged(log: FileSink) = log.firstDamaged.map { batch =>
    new Invalid(
      "KEYFOLD_SINK_DAMAGED",
      s"The log of the file sink in $folder has no entry of batch $batch that Spark could read: it " +
        "is lost, or not whole. Spark could not read the output. The query was not started. Restore " +
        s"the file $folder/${SinkAside.Log}/$batch, or $batch.compact, from a copy. Else " +
        wayBack(log, last.fold(-1L)(_.min(batch - 1))).getOrElse(NewFolder)
    )
  }

  /** What takes the query and the log back to the newest batch up to one that both still have. */
  private def wayBack(log: FileSink, newest: Long): Option[String] =
    logs.committedBatches.reverseIterator
      .filter(it => it <= newest && log.canEndAt(it))
      .flatMap(backTo)
      .nextOption()

  /** How the query goes back to a batch with the log of its sink; None if it cannot, which damage
    * to the entries of that batch means, too.
    */
  private def backTo(batch: Long): Option[String] = Try {
    def isOf(batch: Long, provider: String => Boolean) = logs.providerOf(batch).exists(provider)
    if (!logs.hasCommitted(batch)) None
    else if (isOf(batch, _ == ProviderClass.Keyfold) && logs.canStartAfter(batch))
      Some(
        s"take the query and the log back to batch $batch, by " +
          s"`${Command.rollback(logs.location, batch, sink)}`: $TwiceRead"
      )
    else if (
      isOf(batch, ProviderClass.BuiltIn.contains) && isOf(batch + 1, _ == ProviderClass.Keyfold) &&
      logs.lastCommitted.forall(_ <= batch + 1)
    )
      Some(
        s"undo the migration that followed batch $batch, by " +
          s"`${Command.undoMigrate(logs.location, sink)}`, which works until the query has committed a " +
          "batch with Keyfold. Then migrate again, with the sink."
      )
    else None
  }.toOption.flatten

  private def stale(log: FileSink, last: Long) = for {
    note <- SinkNote.read(files) if !note.isFileSink
    batch <- log.firstWithFiles(note.after) if batch <= last
  } yield new Invalid(
    "KEYFOLD_SINK_STALE",
    s"Batches ${note.after + 1} to $last of ${logs.location} ran while the query had a sink of " +
      s"another kind, and the log of the file sink in $folder has an entry of batch $batch with files, " +
      "which a run before a rollback wrote. The output of the later run would be missing there. The " +
      s"query was not started. To have it there, ${wayBack(log, note.after).getOrElse(NewFolder)}"
  )

  private def withoutLog(done: Long) = new Invalid(
    "KEYFOLD_SINK_BEHIND",
    s"The folder $folder of the file sink has files and no log of them, ${SinkAside.Log}, and the " +
      s"newest committed batch of ${logs.location} is $done. Spark could not read the output. The " +
      "query was not started. Restore the log from a copy, or write to a new folder."
  )

  private def ahead(log: FileSink, newest: Long): Option[Invalid] = {
    val isOpen = logs.lastBegun.contains(next) && newest == next
    // Under format 1 the state that the first run has written is found.
    if (isOpen && isFormat1) stale(log, next)
    else
      Some(
        new Invalid(
          "KEYFOLD_SINK_AHEAD",
          s"The log of the file sink in $folder has batch $newest, and the newest committed batch of " +
            s"${logs.location} is ${last.fold("none")(_.toString)}. Spark would not run batch $next " +
            "again, and its output or its state would be missing. The query was not started. " +
            (if (isOpen && next == afterLast) openRemedy else "") + last.fold(otherFolder)(
              aheadRemedy(log, _)
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
    if (logs.lastBegun.exists(_ > 0))
      s"The entries of the commit log are lost. `${Command.fsck(logs.location)}` says what is left."
    else
      "If another checkpoint wrote to this folder, start with that checkpoint, or write to a new folder."

  private def aheadRemedy(log: FileSink, last: Long) =
    if (!log.canEndAt(last))
      s"The log cannot go back to batch $last, since Spark has compacted the batches before it into a " +
        s"later entry and deleted their own: $NewFolder"
    else if (logs.providerOf(last).exists(ProviderClass.BuiltIn.contains))
      s"To take the sink's log back to batch $last, move the entries of later batches out of " +
        s"$folder/${SinkAside.Log}: $TwiceRead"
    else if (backTo(last).isEmpty)
      s"`${Command.fsck(logs.location)}` says how the query goes back."
    else
      s"To take the sink's log back to batch $last, run `${Command.rollback(logs.location, last, sink)}`: " +
        TwiceRead

  private def behind(log: FileSink, newest: Long, last: Long) = new Invalid(
    "KEYFOLD_SINK_BEHIND",
    s"The log of the file sink in $folder ends at batch $newest, and the newest committed batch of " +
      s"${logs.location} is $last. The output of the batches between them would be missing. The " +
      s"query was not started. ${setAside(newest, last)}${behindRemedy(log, newest)}"
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

  private def behindRemedy(log: FileSink, newest: Long) = wayBack(log, newest)
    .map(way => s"To write their output, $way")
    .getOrElse(
      s"The query cannot go back to batch $newest or before. If this is not the folder that it has " +
        s"written to, correct it. Else $NewFolder"
    )
}

private object SinkAtStart {
  private val TwiceRead =
    "the query writes the output of later batches again, and who has read it already reads it twice."
  private val NewFolder =
    "write to a new folder, whose log begins where the checkpoint is. This one keeps what it has, which " +
      "may lack rows of earlier batches or have some that come again: compare them by hand."
}

package io.keyfold.spark.start

import io.keyfold.errors.{Invalid, StoreError}
import io.keyfold.spark.admin.rollback.Aside
import io.keyfold.spark.checkpoint.{CheckpointLogs, Command, EnteredBatches, FileSink, IfReadable}

/** Compares the log of a file sink with the checkpoint of its query, which Spark does not do. Each
  * batch has an entry: it is made after the batch's offsets and before the batch is committed.
  *
  * Spark does not write the output of a batch that the log has (`FileStreamSink.addBatch`). For the
  * batch that was begun last that is right. But batches that the checkpoint does not know have
  * other input when they are begun: their output would be missing. And a log that lacks a batch
  * ends the query when Spark compacts it.
  *
  * @param folder
  *   the sink's
  */
private[start] final class SinkAtStart(logs: CheckpointLogs, folder: String) {
  import SinkAtStart._

  private val entered = new EnteredBatches(logs.files)

  // In this order: a run of the query that is still active adds to the three in the other one.
  private val committed = logs.lastCommitted
  private val found = for (log <- logs.fileSink(folder); last <- log.lastBatch) yield log -> last
  private val begun = logs.lastBegun

  /** Why the log does not fit the checkpoint, once Keyfold has made it fit as far as it can; None
    * if it fits, or is new.
    */
  def refusal: Option[Invalid] = for {
    (log, last) <- found
    newest <- fitted(log, last)
    refusal <-
      if (committed.exists(_ > newest)) Some(behind(log, newest, committed.get))
      else {
        val others = othersIn(log)
        Option.when(!begun.exists(_ >= newest) || others.nonEmpty)(ahead(log, newest, others))
      }
  } yield refusal

  /** Enters the batches of rescales, migrations and writes, which the query has not run and which
    * have no output, also where the query has gone on without the extension. Takes out what a start
    * has entered of those that were undone since.
    *
    * @return
    *   the last batch of the log then
    */
  private def fitted(log: FileSink, last: Long): Option[Long] = {
    val after = (last + 1 to committed.getOrElse(last)).takeWhile(isOwn)
    (log.gaps.filter(isOwn) ++ after).foreach { batch =>
      entered.add(batch, folder)
      log.addEmpty(batch)
    }
    // A run that is still active may have written a later entry since.
    for (batch <- entered.in(folder).sorted.reverse if batch <= last && begun.exists(_ < batch))
      if (isLast(log, batch) && hasOutput(log, batch).contains(false)) {
        log.forget(batch)
        entered.remove(batch)
      }
    log.lastBatch
  }

  /** Whether a batch ends the log, and can be removed. */
  private def isLast(log: FileSink, batch: Long) =
    log.lastBatch.contains(batch) && log.canEndAt(batch - 1)

  /** What cannot be read is for Spark to report. */
  private def isOwn(batch: Long) =
    try logs.isOwn(batch)
    catch { case _: StoreError => false }

  private def hasOutput(log: FileSink, batch: Long) =
    IfReadable(s"the files of batch $batch")(log.hasOutput(batch))

  /** The last batches, if they are those of rescales, migrations and writes, and the log has output
    * of one: the checkpoint went back without it. Newest first.
    */
  private def othersIn(log: FileSink): Seq[Long] = {
    val own = committed.toSeq.flatMap(Iterator.iterate(_)(_ - 1).takeWhile(isOwn))
    if (own.exists(hasOutput(log, _).contains(true))) own else Nil
  }

  /** Gives the log what Spark wants to find in it and does not write itself. A log in a new folder
    * begins where the query is: Spark reads a log from its first batch, or from an entry that it
    * has compacted.
    */
  def complete(): Unit = {
    val done = (committed ++ begun.map(_ - 1)).maxOption.getOrElse(-1L)
    if (found.isEmpty && done >= 0) {
      if (isOwn(done)) entered.add(done, folder)
      logs.newFileSink(folder).beginAfter(done)
    }
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
  private def backTo(batch: Long): Option[String] = IfReadable(s"the way back to batch $batch") {
    if (!logs.hasCommitted(batch)) None
    else if (logs.isKeyfolds(batch) && logs.canStartAfter(batch))
      Some(
        s"take the query and the log back to batch $batch, by " +
          s"`${Command.rollback(logs.location, batch, Some(folder))}`: $TwiceRead"
      )
    else if (
      logs.isBuiltIn(batch) && logs.isKeyfolds(batch + 1) &&
      logs.lastCommitted.forall(_ <= batch + 1)
    )
      Some(
        s"undo the migration that followed batch $batch, by " +
          s"`${Command.undoMigrate(logs.location)}`, which works until the query has committed a " +
          "batch with Keyfold. Then migrate again."
      )
    else None
  }

  private def ahead(log: FileSink, newest: Long, others: Seq[Long]) = new Invalid(
    "KEYFOLD_SINK_AHEAD",
    s"The log of the file sink in $folder has batch $newest, and the newest batch that ${logs.location} " +
      s"has begun is ${begun.fold("none")(_.toString)}${if (others.nonEmpty) ", of a rescale, a migration or a write of rows"
        else ""}. Spark would not write the output of the batches " +
      s"after it, which have other input now. The query was not started. " +
      committed.fold(otherFolder)(last => aheadRemedy(log, others.lastOption.fold(last)(_ - 1)))
  )

  private def otherFolder =
    if (begun.exists(_ > 0))
      s"The entries of the commit log are lost. `${Command.fsck(logs.location)}` says what is left."
    else
      "If another checkpoint wrote to this folder, start with that checkpoint, or write to a new folder."

  private def aheadRemedy(log: FileSink, last: Long) =
    if (!log.canEndAt(last))
      s"The log cannot go back to batch $last, since Spark has compacted the batches before it into a " +
        s"later entry and deleted their own: $NewFolder"
    else if (logs.isBuiltIn(last))
      s"To take the sink's log back to batch $last, move the entries of later batches out of " +
        s"$folder/${Aside.SinkLog}: $TwiceRead"
    else if (backTo(last).isEmpty)
      s"`${Command.fsck(logs.location)}` says how the query goes back."
    else
      s"To take the sink's log back to batch $last, run `${Command.rollback(logs.location, last, Some(folder))}`: " +
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
    val own = logs.files.folders("keyfold").toSet
    Aside
      .holding(folder, newest + 1 to last, logs.hadoopConf)
      .collectFirst { case (name, place) if !own(name) => place }
      .fold("") { place =>
        s"A rollback of another query has set these entries aside: to put them back, move the files " +
          s"in $place to $folder/${Aside.SinkLog}. "
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

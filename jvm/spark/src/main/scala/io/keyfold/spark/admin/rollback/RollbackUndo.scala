package io.keyfold.spark.admin.rollback

import io.keyfold.format.PlanName
import io.keyfold.spark.checkpoint.{CheckpointTools, Command, FileSink, QueryId}

/** Restores the files that a rollback set aside.
  *
  * The offsets of the oldest batch go first: a query that is started meanwhile runs that batch
  * again with the input that it had. The log of a file sink follows, then plans of rescales and
  * state, the other log entries last, oldest batch first, offsets before commit: after a failure at
  * any point it can be run again.
  *
  * @param name
  *   of their folder
  */
private[admin] final class RollbackUndo(tools: CheckpointTools, name: String) {
  import CheckpointTools.progress
  import RollbackUndo._
  import tools.{files, logs, parallel}

  private val aside = asideOf(name)

  /** The batch that was rolled back to. */
  private val batch = name match {
    case Name(batch) if aside.exists => batch.toLong
    case _ => throw refused(s"there is no folder keyfold/$name of a rollback")
  }

  /** The log entries, back or not, by batch. */
  private lazy val byBatch = aside.files.filter(isOfLog).groupBy(numberOf)

  /** The files that are not back yet. */
  private lazy val (ofLogs, others) = aside.left.partition(isOfLog)

  /** The oldest batch that is not back, or not whole. */
  private lazy val next = ofLogs.map(numberOf).minOption.getOrElse(batch + 1)

  /** @throws io.keyfold.errors.RescaleRefused
    *   if the query has run since, or a later rollback has not been undone, also one that took only
    *   the log of the file sink back
    * @throws io.keyfold.errors.Invalid
    *   if a query or another command is faster than this; its files stay
    */
  def apply(): RolledBack = {
    Rollback.requireStopped(logs)
    requireNotRun()
    requireBase()
    aside.sink.foreach(requireSink)
    requireOutput()
    aside.sink.foreach(requirePlace)
    progress(s"putting ${ofLogs.length + others.length} files back")
    val begun = s"offsets/$next"
    if (ofLogs.contains(begun)) aside.enter(begun)
    val ofOutput = aside.sink.fold(0)(giveBackOutput)
    val (inPlace, state) =
      others.partition(path => path.startsWith(s"${PlanName.Folder}/") || path == QueryId.Place)
    inPlace.foreach { path =>
      // A plan that the rollback has made final is still there, and the query has another id.
      if (aside.canTake(path)) files.delete(path)
      aside.giveBack(path)
    }
    parallel(state)(aside.giveBack)
    for ((_, entries) <- byBatch.toSeq.sortBy(_._1)) {
      entries.sorted.reverse
        .filter(path => path != begun && ofLogs.contains(path))
        .foreach(aside.enter)
      // Not earlier: they tell the next try that the batch in the log is this one.
      entries.foreach(aside.drop)
    }
    val last = byBatch.keys.maxOption.getOrElse(batch)
    // The rollback has copied the id, and moved the others.
    val moved = ofLogs.length + others.count(_ != QueryId.Place) + ofOutput
    RolledBack(logs.location, last, batch, Some(name), moved, aside.sink, Nil, undone = true)
  }

  /** Restores the entries of the sink's log, oldest first. */
  private def giveBackOutput(folder: String) = {
    val ofOutput = ofSink(folder, name)
    val entries = ofOutput.left.sortBy(FileSink.batchOf)
    entries.foreach(ofOutput.giveBack)
    entries.length
  }

  private def requireNotRun(): Unit = {
    val isAllBack = byBatch.nonEmpty && ofLogs.isEmpty && others.isEmpty
    // A rollback or its undo that broke off has left the offsets of this batch in place.
    val isInPlace = logs.lastBegun.contains(next) && byBatch.contains(next) &&
      !ofLogs.contains(s"offsets/$next")
    // One that broke off before it has moved anything has given the query a new id only.
    val isOnlyId = aside.files.forall(_ == QueryId.Place) &&
      aside.sink.forall(ofSink(_, name).files.isEmpty)
    if (logs.lastBegun.exists(_ >= next) && !isInPlace && !isAllBack && !isOnlyId) {
      throw refused(s"the query has run since: its last batch is ${logs.lastBegun.get}")
    }
  }

  // An entry in the offset log has the time at which its batch began, so no two are equal.
  private def requireBase(): Unit = if (!aside.buildsOn(s"offsets/$batch")) {
    throw refused(
      s"batch $batch, which the files of $name build on, was set aside by a later rollback or made " +
        "again since. Undo the later rollback first; if the query has run since, there is no way back"
    )
  }

  private def requireSink(folder: String): Unit = {
    if (folder.isEmpty) {
      throw refused(
        s"the file keyfold/$name/sink, which names the folder of the file sink, is empty: write the " +
          "folder into it"
      )
    }
    if (!ofSink(folder, name).isRootThere) {
      throw refused(
        s"the folder $folder of the file sink, whose log goes forward too, does not exist"
      )
    }
  }

  /** The batches that are put back must be in the log of the file sink, too, without a gap. A
    * rollback that took them out of it, after the one that is undone, has to be undone first. An
    * earlier one has the batches' offsets too: its batches have run again since.
    */
  private def requireOutput(): Unit = {
    val last = (ofLogs.filter(_.startsWith("commits/")).map(numberOf) ++ logs.lastCommitted).max
    for {
      other <- files.folders(PlanName.Folder) if other != name && Name.matches(other)
      folder <- asideOf(other).sink if folder.nonEmpty
      own = ofSink(folder, name).files if own.nonEmpty || aside.sink.isEmpty
      afterwards = FileSink.has(own ++ logs.fileSink(folder).toSeq.flatMap(_.entriesAfter(-1)))
      missing <- ofSink(folder, other).files
        .map(FileSink.batchOf)
        .sorted
        .find(it => it <= last && !afterwards(it) && !asideOf(other).has(s"offsets/$it"))
    } throw refused(
      s"the log of the file sink in $folder would lack batch $missing, and the checkpoint would end at " +
        s"$last: undo the later rollback $other first, which has taken that batch"
    )
  }

  /** The entries that are put back find their places free. */
  private def requirePlace(folder: String): Unit = {
    val ofOutput = ofSink(folder, name)
    for (entry <- ofOutput.left.find(ofOutput.canTake))
      throw refused(
        s"the log of the file sink has another $entry by now. Take it back first: run " +
          s"`${Command.rollback(logs.location, batch, Some(folder))}`"
      )
  }

  private def asideOf(name: String) =
    Aside.ofCheckpoint(logs.location, name, logs.hadoopConf, parallel)

  private def ofSink(folder: String, name: String) =
    Aside.ofSink(folder, name, logs.hadoopConf, parallel)

  private def refused(reason: String) = Rollback.refused(logs, reason)
}

private object RollbackUndo {
  private val Name = "rollback-(\\d+)-[0-9a-f-]+".r

  private def isOfLog(path: String) = path.matches("(commits|offsets)/\\d+")

  private def numberOf(path: String) = path.drop(path.indexOf('/') + 1).toLong
}

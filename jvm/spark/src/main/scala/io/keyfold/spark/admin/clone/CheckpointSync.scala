package io.keyfold.spark.admin.clone

import io.keyfold.spark.checkpoint.CheckpointFiles.FileSize
import io.keyfold.spark.checkpoint._

/** Brings a copy of a checkpoint, for its query to go on elsewhere, to the newest committed batch.
  * Copies the files that are not there, writes the entries of the logs, then deletes what that
  * batch does not need. Until the entries are written the copy is that of the batch before. A sync
  * that was killed is finished by the next one.
  *
  * The copy has a query id of its own, for the reason that a clone has one.
  */
final class CheckpointSync(tools: CheckpointTools, to: String) {
  import CheckpointSync._
  import tools._

  private val planner = new ClonePlanner(tools)
  private val copied = new CheckpointLogs(session, to)
  private val target = copied.files
  private val record = new SyncRecord(target)

  /** @throws io.keyfold.errors.StoreError
    *   if there is no batch to copy, or what is in the target is not from syncs of this checkpoint
    */
  def run(): Synced = {
    planner.requireOutside(target)
    requireReplacing()
    val query = planner.requireId()
    val there = target.walk("", parallel)
    val entries = entriesIn(there)
    if (there.nonEmpty) requireOwn(entries, query)
    val planned = planner.plan(target, None)
    copied.lastCommitted.foreach(requireAhead(_, planned.batch))
    if (isRescaledSince(planned)) Synced(planned, 0, 0, 0)
    else {
      if (there.isEmpty) record.add(query, Nil, Nil)
      if (!there.exists(_.path == QueryId.Place)) target.write(QueryId.Place, QueryId.fresh())
      val missing = copyMissing(there, planned)
      val operators = new OperatorMetadata(logs).of(planned.batch, target)
      for ((path, bytes) <- operators) write(path, bytes)
      requireNoOther(entries, query)
      record.add(query, planned.log, entries)
      writeLogs(planned)
      val needed = planned.state ++ planned.other
      val deleted =
        delete(there, needed.map(_.path) ++ operators.map(_._1) ++ planned.log.map(_.path))
      Synced(planned, missing.size, missing.map(_.bytes).sum, deleted)
    }
  }

  /** Whether the batch is there, as it was before a rescale, which is between it and an open one.
    * The copy follows with the next batch: entries of two layouts would not be replaced in one
    * step.
    */
  private def isRescaledSince(planned: ClonePlan): Boolean =
    planned.log.exists { entry =>
      entry.path == s"commits/${planned.batch}" &&
      target.read(entry.path).exists(!_.sameElements(entry.after.get))
    }

  private def copyMissing(there: Seq[FileSize], planned: ClonePlan): Seq[FileSize] = {
    val lengths = there.map(it => it.path -> it.bytes).toMap
    def isMissing(file: FileSize) = !lengths.get(file.path).contains(file.bytes)
    def copy(path: String): Unit = files.copy(path, target, replaces = true)
    val state = planned.state.filter(isMissing)
    planner.copy(state)(copy)
    // The log of a source must not have a gap, and a plan counts as soon as it is there.
    val others = planned.other.filter(isMissing).sortBy(rank)
    others.foreach(file => planner.copy(file.path)(copy))
    state ++ others
  }

  /** A start on what is written half way is refused, as offsets are missing: those of the batch
    * before the newest are written last.
    */
  private def writeLogs(planned: ClonePlan): Unit = {
    planned.log.foreach(planner.requireSame)
    val (ofBatch, before) = planned.log.partition(_.path.endsWith(s"/${planned.batch}"))
    for (entry <- ofBatch ++ before) write(entry.path, entry.after.get)
  }

  private def write(path: String, bytes: Array[Byte]): Unit =
    if (!target.read(path).exists(_.sameElements(bytes))) target.replace(path, bytes)

  /** Deletes what the batch does not need: commits before their offsets. */
  private def delete(there: Seq[FileSize], needed: Seq[String]): Int = {
    val kept = needed.toSet + QueryId.Place + SyncRecord.Place
    val old = there.map(_.path).filter(it => isSynced(it) && !kept(it))
    val (entries, others) = old.partition(isEntry)
    entries.sorted.foreach(target.delete)
    parallel(others)(target.delete)
    old.size
  }

  private def requireReplacing(): Unit =
    if (!target.canReplace) {
      throw planner.refused(
        "KEYFOLD_SYNC_TARGET",
        s"the checkpoint file manager of ${target.location} cannot replace a file in one step"
      )
    }

  /** Requires that syncs of this checkpoint have written what is there, and no query. */
  private def requireOwn(entries: Seq[String], query: String): Unit = {
    if (!record.isOf(query)) {
      throw refused("no sync of this query has written them, or the query was rolled back since")
    }
    for (entry <- record.foreign(entries))
      throw refused(s"no sync has written $entry: a query has run there")
  }

  /** The copying may have taken long. */
  private def requireNoOther(entries: Seq[String], query: String): Unit = {
    val now = entriesIn(Seq("offsets", "commits").flatMap(target.list))
    if (now.toSet != entries.toSet) {
      requireOwn(now, query)
      throw planner.refused(
        "KEYFOLD_CONCURRENT_UPDATE",
        s"another sync has written to ${target.location} meanwhile; run one at a time"
      )
    }
  }

  /** Requires that the copy's newest batch is one that the query has run. */
  private def requireAhead(newest: Long, batch: Long): Unit =
    if (newest > batch || !logs.hasSame(newest, copied)) {
      throw refused(
        s"the query has not run their batch $newest, as if its checkpoint had gone back"
      )
    }

  private def refused(reason: String) = planner.refused(
    "KEYFOLD_SYNC_TARGET",
    s"the files in ${target.location} cannot be brought up to date: $reason. Nothing was changed. " +
      "Give a folder that does not exist, or delete this one first, if no query needs it"
  )
}

private object CheckpointSync {
  private val Numbered = """(.*)/(\d{1,18})[^/]*""".r

  /** Savepoints of the copy stay, and what others have put there. */
  private def isSynced(path: String) =
    path.matches("(offsets|commits|state|sources|keyfold)/.*") &&
      !path.startsWith("keyfold/savepoints/")

  private def isEntry(path: String) = path.matches("""(commits|offsets)/\d{1,18}""")

  private def entriesIn(files: Seq[FileSize]) = files.map(_.path).filter(isEntry)

  /** Schemas, then sources' logs by number, then plans. */
  private def rank(file: FileSize): (Int, String, Long) = file.path match {
    case path if path.startsWith("keyfold/")                       => (2, path, 0)
    case Numbered(folder, number) if folder.startsWith("sources/") => (1, folder, number.toLong)
    case path                                                      => (0, path, 0)
  }
}

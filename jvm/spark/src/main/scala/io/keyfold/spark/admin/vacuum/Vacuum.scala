package io.keyfold.spark.admin.vacuum

import io.keyfold.errors.Invalid
import io.keyfold.format.{FileKind, PlanName}
import io.keyfold.spark.checkpoint.CheckpointFiles.FileSize
import io.keyfold.spark.checkpoint.{CheckpointFiles, CheckpointTools}

/** Deletes files of a checkpoint that a check has found to be unreferenced. As a last line of
  * defence, whatever the check says, it deletes no file that a retained batch needs, and no young
  * file, which a running batch may be about to commit.
  *
  * @param nowMs
  *   milliseconds since 1970
  * @param ageMs
  *   minimum time since the last change of a file to be deleted
  */
final class Vacuum(tools: CheckpointTools, nowMs: Long, ageMs: Long, progress: String => Unit) {
  import Vacuum._
  import tools.{blobs, files, logs}

  /** Batch of the newest rescale that still keeps old files. */
  private val rescaled =
    files.list(PlanName.Folder).flatMap(file => PlanName.ofFile(file.name)).map(_.batch).maxOption

  /** Batches after the last one that a rollback has set aside, with the name of its folder. If it
    * was interrupted, their state is still in place, and the rollback can be undone.
    */
  private lazy val setAside: Map[Long, String] = {
    val last = logs.lastBegun.getOrElse(-1L)
    for {
      name <- files.folders(PlanName.Folder) if name.startsWith("rollback-")
      entry <- files.list(s"${PlanName.Folder}/$name/offsets")
      batch <- entry.name.toLongOption if batch > last
    } yield batch -> name
  }.toMap

  /** The version of a batch that has begun and is not committed: its files may be hours old. */
  private lazy val inTheMaking = logs.lastBegun.filterNot(logs.hasCommitted).map(_ + 1)

  /** @param paths
    *   of files and folders, relative to the checkpoint
    * @param dryRun
    *   only report what would be deleted
    * @throws io.keyfold.errors.Invalid
    *   if one of them is in use; nothing is deleted then
    */
  def run(paths: Seq[String], dryRun: Boolean): Seq[Unreferenced] = {
    paths.foreach(checkPlace)
    val below = paths.map(path => path -> files.below(path))
    check(below)
    val found = below.map { case (path, files) => describe(path, files) }
    if (!dryRun) {
      for ((one, (path, checked)) <- found.zip(below) if one.old) {
        progress(s"deleting $path")
        // A rescale or a batch may have put files there since: only what was checked goes.
        checked.filter(files.isUnchanged).foreach(file => files.delete(file.path))
        if (!checked.exists(_.path == path)) files.deleteEmptyFolders(path)
      }
    }
    found
  }

  private def describe(path: String, below: Seq[FileSize]) = {
    val newest = below.map(_.modifiedMs).maxOption.getOrElse(0L)
    val least = if (CheckpointFiles.isTemporary(path)) math.max(ageMs, TemporaryMs) else ageMs
    Unreferenced(path, below.map(_.bytes).sum, nowMs - newest >= least)
  }

  private def checkPlace(path: String): Unit = {
    val parts = path.split("/", -1)
    if (parts.exists(part => part.isEmpty || part == "." || part == "..")) {
      throw refused(path, "it is not a normalized path")
    }
    if (!CheckpointFiles.isTemporary(path)) {
      if (parts.length < 2 || parts.head != "state") {
        throw refused(path, "it is not below the checkpoint's state folder")
      }
      if (parts.exists(_.startsWith("."))) throw refused(path, "it is hidden")
    }
  }

  private def check(below: Seq[(String, Seq[FileSize])]): Unit = {
    val named = for ((path, found) <- below; file <- found) yield (path, file.path)
    def versionOf(file: String) = FileKind.parse(CheckpointFiles.nameOf(file)).map(_._1.version)
    // A listing that lags may lack the batch that wrote a file.
    val batches = files.list("commits").flatMap(_.name.toLongOption) ++
      named.flatMap { case (_, file) => versionOf(file).map(_ - 1).filter(_ >= 0) }
    val retained = new RetainedBatches(logs, blobs, batches)
    for ((path, file) <- named if !CheckpointFiles.isTemporary(path)) {
      if (versionOf(file).exists(version => rescaled.exists(version - 1 < _))) {
        throw refused(path, s"$file may be referenced: a rescale is not cleaned up yet")
      }
      for (version <- versionOf(file) if inTheMaking.contains(version)) {
        throw refused(path, s"$file may be of batch ${version - 1}, which is not committed yet")
      }
      for (version <- versionOf(file); name <- setAside.get(version - 1)) {
        val reason =
          s"$file is of batch ${version - 1}, which keyfold/$name has. That rollback was " +
            "interrupted, or a query or command writes this batch now: undo the rollback, or stop the other"
        throw refused(path, reason)
      }
      retained.reasonToKeep(file).foreach(reason => throw refused(path, s"$file $reason"))
    }
  }

  private def refused(path: String, reason: String) =
    new Invalid("KEYFOLD_VACUUM_IN_USE", s"Cannot delete $path: $reason. Nothing was deleted.")
}

private object Vacuum {

  /** A query that runs renames its temporary file before it is as old as that, in milliseconds. */
  private val TemporaryMs = 10 * 60 * 1000L
}

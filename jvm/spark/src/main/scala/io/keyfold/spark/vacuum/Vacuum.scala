package io.keyfold.spark.vacuum

import io.keyfold.errors.Invalid
import io.keyfold.format.{FileKind, RescalePlan}
import org.apache.spark.sql.keyfold.{CheckpointFiles, CheckpointLogs}

/** Deletes files of a checkpoint's state that a check has found to be of no use. What to delete is
  * for the check to say; here is the last line of defence: no file of a committed batch goes, and
  * nothing that is young, as a batch that runs may be about to commit it.
  *
  * @param nowMs
  *   milliseconds since 1970
  * @param ageMs
  *   how long something must not have changed
  */
final class Vacuum(
    logs: CheckpointLogs,
    files: CheckpointFiles,
    nowMs: Long,
    ageMs: Long,
    progress: String => Unit
) {

  /** Batch of the newest rescale whose old files are kept. */
  private val rescaled =
    files.list("keyfold").flatMap(file => RescalePlan.parseName(file.name)).map(_._1).maxOption

  /** @param paths
    *   of files and folders, relative to the checkpoint
    * @param dryRun
    *   only say what would be deleted
    * @throws io.keyfold.errors.Invalid
    *   if one of them is in use; nothing is deleted then
    */
  def run(paths: Seq[String], dryRun: Boolean): Seq[Waste] = {
    paths.foreach(check)
    val found = paths.map(wasteOf)
    if (!dryRun) {
      for (waste <- found if waste.isOld) {
        progress(s"deleting ${waste.path}")
        files.delete(waste.path)
      }
    }
    found
  }

  private def wasteOf(path: String) = {
    val below = files.below(path)
    val newest = below.map(_.modifiedMs).maxOption.getOrElse(0L)
    Waste(path, below.map(_.bytes).sum, nowMs - newest >= ageMs)
  }

  private def check(path: String): Unit = {
    if (!path.startsWith("state/") || path.split('/').contains("..")) {
      throw refused(path, "it is not below the checkpoint's state folder")
    }
    for {
      file <- files.below(path)
      (version, _) <- FileKind.parse(file.name)
      batch = version.version - 1
    } {
      if (rescaled.exists(batch < _)) {
        throw refused(path, s"${file.path} may be referred to: a rescale has not been settled yet")
      }
      val inUse = logs.hasCommitted(batch) && (logs.ids(batch) match {
        case Some(ids) => ids.valuesIterator.flatten.flatten.contains(version.id)
        case None      => version.id.isEmpty && isOfPartition(file.path, batch)
      })
      if (inUse) throw refused(path, s"${file.path} is of batch $batch, which is committed")
    }
  }

  /** A folder of a partition that the query did not have then is of no batch. Spark tells of no
    * operator at all when there is a folder of one that it does not know.
    */
  private def isOfPartition(path: String, batch: Long) = path.split('/') match {
    case Array("state", operator, partition, _*) =>
      val known = logs.operators(batch).map(_.id.toString)
      (known.isEmpty || known.contains(operator)) && partition.toIntOption.exists(p =>
        logs.partitions(batch).exists(p < _)
      )
    case _ => false
  }

  private def refused(path: String, reason: String) =
    new Invalid("KEYFOLD_VACUUM_IN_USE", s"Cannot delete $path: $reason. Nothing was deleted.")
}

/** Something that is not needed.
  *
  * @param path
  *   of a file or folder, relative to the checkpoint
  * @param isOld
  *   whether it may go
  */
final case class Waste(path: String, bytes: Long, isOld: Boolean)

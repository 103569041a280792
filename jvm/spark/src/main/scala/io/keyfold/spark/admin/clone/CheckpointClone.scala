package io.keyfold.spark.admin.clone

import java.util.concurrent.ConcurrentLinkedQueue

import scala.jdk.CollectionConverters._
import scala.util.control.NonFatal

import io.keyfold.spark.checkpoint.{CheckpointFiles, CheckpointTools, OperatorMetadata, QueryId}

/** Copies a checkpoint as of one batch, with the files that [[ClonePlanner]] finds.
  *
  * The commit log of the copy is written last: until then a query would not start on it.
  *
  * @param batch
  *   None: the newest committed batch
  * @param newQuery
  *   whether the copy gets a new query id; sinks that remember batches by query id would otherwise
  *   mistake its batches for those of the original
  */
final class CheckpointClone(
    tools: CheckpointTools,
    to: String,
    batch: Option[Long],
    newQuery: Boolean
) {
  import CheckpointTools.progress
  import tools._

  private val planner = new ClonePlanner(tools)
  private val target = new CheckpointFiles(to, logs.hadoopConf)

  /** Files of the copy, relative to it. */
  private val copied = new ConcurrentLinkedQueue[String]

  /** The files to copy.
    *
    * @throws io.keyfold.errors.StoreError
    *   if the batch does not exist or is not Keyfold's, or the target is not empty
    */
  def plan(): ClonePlan = {
    if (!target.isEmpty) {
      throw planner.refused(
        "KEYFOLD_CLONE_TARGET",
        s"${target.location} is not empty; give a folder that does not exist, or delete this one " +
          "if an interrupted copy has left it"
      )
    }
    if (newQuery) planner.requireOutside(target)
    else planner.requireId()
    planner.plan(target, batch)
  }

  /** Copies the files of the plan. If that fails, those that were copied are deleted again.
    *
    * @return
    *   the files copied
    */
  def run(): ClonePlan = {
    val planned = plan()
    try {
      planner.copy(planned.state)(copy)
      planner.copy(planned.other)(copy)
      for ((path, bytes) <- new OperatorMetadata(logs).of(planned.batch, target)) write(path, bytes)
      if (newQuery) write(QueryId.Place, QueryId.fresh()) else copy(QueryId.Place)
      for (entry <- planned.log) {
        planner.requireSame(entry)
        write(entry.path, entry.after.get)
      }
    } catch {
      case e: Throwable =>
        discard(e)
        throw e
    }
    planned
  }

  private def discard(cause: Throwable): Unit =
    try {
      progress(s"deleting the ${copied.size} files that were copied")
      parallel(copied.asScala.toSeq)(target.delete)
      target.deleteEmptyFolders("")
    } catch { case NonFatal(e) => cause.addSuppressed(e) }

  private def write(path: String, bytes: Array[Byte]): Unit = {
    target.write(path, bytes)
    copied.add(path)
    ()
  }

  private def copy(path: String): Unit = {
    files.copy(path, target)
    copied.add(path)
    ()
  }
}

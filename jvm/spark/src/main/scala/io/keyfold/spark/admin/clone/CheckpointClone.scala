package io.keyfold.spark.admin.clone

import java.io.FileNotFoundException
import java.util.concurrent.ConcurrentLinkedQueue
import java.util.Arrays

import scala.jdk.CollectionConverters._
import scala.util.control.NonFatal

import io.keyfold.errors.{CorruptFile, Invalid, MissingFile}
import io.keyfold.format.{FileKind, PlanName, RescalePlan, RewrittenFile}
import io.keyfold.spark.admin.rescale.{OpenPlans, UnfinishedRescale}
import io.keyfold.spark.checkpoint.CheckpointFiles.FileSize
import io.keyfold.spark.checkpoint.{
  CheckpointFiles,
  CheckpointLogs,
  CheckpointTools,
  OperatorMetadata,
  QueryId
}
import io.keyfold.spark.conf.ProviderClass

/** Copies a checkpoint as of one batch: only the files that hold the state of that batch, and
  * Spark's own files. Subtasks that the newest batch's state was given to since are not copied: no
  * batch has run with them. The original is only read and may be in use.
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

  private val from = files
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
      throw refused(
        "KEYFOLD_CLONE_TARGET",
        s"${target.location} is not empty; give a folder that does not exist, or delete this one " +
          "if an interrupted copy has left it"
      )
    }
    if (newQuery && s"${target.location}/".startsWith(s"${logs.location}/")) {
      throw refused(
        "KEYFOLD_CLONE_TARGET",
        s"${target.location} is inside of it, where its query and its maintenance write and delete; " +
          "give a folder elsewhere, or make a savepoint"
      )
    }
    val newest =
      logs.lastCommitted.getOrElse(throw refused("KEYFOLD_CLONE_BATCH", "no batch was committed"))
    val chosen = batch.getOrElse(newest)
    val log = entries(chosen, chosen == newest)
    val settings = logs.settings(chosen).filter(_ => logs.hasCommitted(chosen)).getOrElse {
      throw refused(
        "KEYFOLD_CLONE_BATCH",
        s"batch $chosen is not in its logs; the newest committed is $newest"
      )
    }
    if (!newQuery && logs.queryId.isEmpty) {
      throw refused(
        "KEYFOLD_CHECKPOINT_DAMAGED",
        s"the file ${logs.location}/metadata, which has the id of the query, is lost. Restore it from " +
          "a copy, or start the query once: the error says how Spark writes a new one"
      )
    }
    if (!logs.canStartAfter(chosen)) {
      throw refused(
        "KEYFOLD_CLONE_BATCH",
        s"Spark could not start after batch $chosen, since it needs the offsets of batch " +
          s"${chosen - 1} too, which were deleted; the oldest batch to copy is ${chosen + 1}"
      )
    }
    val provider = settings.getOrElse(CheckpointLogs.ProviderKey, "")
    if (provider != ProviderClass.Keyfold) {
      throw refused("KEYFOLD_CLONE_PROVIDER", s"its state was written by $provider")
    }
    for {
      begun <- logs.lastBegun if begun > newest
      reason <- new UnfinishedRescale(tools).open(begun)
    } throw refused("KEYFOLD_CLONE_BATCH", reason)
    for (lost <- new OperatorMetadata(logs).lostSchemas(chosen).headOption) {
      throw refused(
        "KEYFOLD_CHECKPOINT_DAMAGED",
        s"the schema of its state, which Spark has written to $lost, is not there. Restore it from a copy"
      )
    }
    val state = stateOf(chosen, log)
    val other = (descriptions ++ from.walk("sources") ++ plansOf(state)).filterNot(isOperator)
    ClonePlan(logs.location, target.location, chosen, state, other, log)
  }

  /** Copies the files of the plan. If that fails, those that were copied are deleted again.
    *
    * @return
    *   the files copied
    */
  def run(): ClonePlan = {
    val planned = plan()
    try {
      copyAll(planned.state, planned.stateBytes)
      copyAll(planned.other, planned.other.map(_.bytes).sum)
      new OperatorMetadata(logs).copy(planned.batch, target).foreach(copied.add)
      if (newQuery) write(QueryId.Place, QueryId.fresh()) else copy(QueryId.Place)
      for (entry <- planned.log) {
        requireSame(entry)
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

  private def stateOf(chosen: Long, log: Seq[RewrittenFile]): Seq[FileSize] = {
    val ids = log.find(_.path == s"commits/$chosen").flatMap(_.after).flatMap(logs.idsIn)
    val paths = tools.stateOf(chosen, ids)
    val folders = paths.map(path => path.take(path.lastIndexOf('/'))).distinct
    val lengths = parallel(folders)(folder => folder -> blobs.lengths(folder)).toMap
    paths.map { path =>
      val (folder, name) = path.splitAt(path.lastIndexOf('/'))
      FileSize(path, lengths(folder).getOrElse(name.drop(1), throw gone(path)))
    }
  }

  /** What Spark has written about the state. */
  private def descriptions: Seq[FileSize] = {
    val folders = for {
      operator <- from.folders("state")
      folder <- from.folders(s"state/$operator")
    } yield s"state/$operator/$folder"
    parallel(folders)(from.walk).flatten
      .filter(_.path.split('/').exists(_.startsWith("_")))
  }

  /** Plans of the rescales whose references are copied, which protect referenced files from
    * deletion, and the manifests that list those files. Without references a plan would never be
    * settled: the copy lacks the older files that show that its rescale took place.
    */
  private def plansOf(state: Seq[FileSize]) = {
    val batches = state
      .flatMap(file => FileKind.parse(file.name))
      .collect { case (version, FileKind.Reference) =>
        version.version - 1
      }
      .toSet
    from
      .list(PlanName.Folder)
      .filter(file => PlanName.ofFile(file.name).exists(name => batches(name.stateBatch)))
      .filterNot(file => PlanName.parse(file.name).exists(isRedistribution))
  }

  private def isRedistribution(name: PlanName) =
    try RescalePlan.read(blobs, name).isRedistribution
    catch { case _: CorruptFile | _: FileNotFoundException => false }

  /** Contains absolute paths, so it is rewritten. */
  private def isOperator(file: FileSize) = file.path.matches("state/\\d+/_metadata/v2/.*")

  /** What Spark starts from: the offsets of a batch and of the batch before, and the commit. Those
    * that are not there are left out. Retention may delete them while the state is copied.
    *
    * @return
    *   as they are, and as they are copied
    */
  private def entries(batch: Long, isNewest: Boolean): Seq[RewrittenFile] = {
    val commit = s"commits/$batch"
    // By the one before it a batch is known to be a rescale's, which the log of a sink may lack.
    val first = math.min(batch - 1, Iterator.iterate(batch)(_ - 1).dropWhile(logs.isOwn).next())
    for {
      path <- (first to batch).map(it => s"offsets/$it") :+ commit
      now <- from.read(path)
      mayBeRedistributed = isNewest && path == commit
      before = if (mayBeRedistributed) new OpenPlans(tools, batch + 1).before(path, now) else now
    } yield RewrittenFile(path, Some(now), Some(before))
  }

  /** The state that was copied is that of these entries, unless the query has gone back and on. */
  private def requireSame(entry: RewrittenFile): Unit =
    if (from.read(entry.path).exists(!Arrays.equals(_, entry.before.get))) {
      throw refused(
        "KEYFOLD_CONCURRENT_UPDATE",
        s"${from.resolve(entry.path)} was replaced meanwhile, since the query was rolled back and has run " +
          "on, or was rescaled. Copy it again"
      )
    }

  private def write(path: String, bytes: Array[Byte]): Unit = {
    target.write(path, bytes)
    copied.add(path)
    ()
  }

  private def copy(path: String): Unit = {
    from.copy(path, target)
    copied.add(path)
    ()
  }

  private def copyAll(files: Seq[FileSize], bytes: Long): Unit = {
    val done = new java.util.concurrent.atomic.AtomicInteger
    val step = math.max(files.size / 10, 50)
    parallel(files) { file =>
      try copy(file.path)
      catch { case _: FileNotFoundException => throw gone(file.path) }
      val n = done.incrementAndGet()
      if (n % step == 0) progress(s"copied $n of ${files.size} files, $bytes bytes in all")
    }
    ()
  }

  private def gone(path: String) = new MissingFile(
    from.resolve(path).toString,
    "it existed when the copy began; a running query deletes old files. Copy a newer batch."
  )

  private def refused(condition: String, reason: String) =
    new Invalid(condition, s"Cannot copy ${logs.location}: $reason.")
}

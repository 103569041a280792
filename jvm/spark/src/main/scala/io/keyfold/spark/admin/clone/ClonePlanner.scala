package io.keyfold.spark.admin.clone

import java.io.FileNotFoundException
import java.util.Arrays
import java.util.concurrent.atomic.AtomicInteger

import io.keyfold.errors.{CorruptFile, Invalid, MissingFile}
import io.keyfold.format.{FileKind, PlanName, RescalePlan, RewrittenFile}
import io.keyfold.spark.admin.rescale.{OpenPlans, UnfinishedRescale}
import io.keyfold.spark.checkpoint.CheckpointFiles.FileSize
import io.keyfold.spark.checkpoint._
import io.keyfold.spark.conf.ProviderClass

/** Finds the files of a checkpoint that a copy of one batch has: those that hold its state, and
  * Spark's own. Subtasks that the newest batch's state was given to since are left out: no batch
  * has run with them. The checkpoint is only read and may be in use.
  */
private[admin] final class ClonePlanner(tools: CheckpointTools) {
  import tools._

  private val from = files

  /** @param batch
    *   None: the newest committed batch
    * @throws io.keyfold.errors.StoreError
    *   if the batch does not exist or is not Keyfold's
    */
  def plan(target: CheckpointFiles, batch: Option[Long]): ClonePlan = {
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

  /** Of a copy for another query, or elsewhere. */
  def requireOutside(target: CheckpointFiles): Unit =
    if (s"${target.location}/".startsWith(s"${logs.location}/")) {
      throw refused(
        "KEYFOLD_CLONE_TARGET",
        s"${target.location} is inside of it, where its query and its maintenance write and delete; " +
          "give a folder elsewhere, or make a savepoint"
      )
    }

  /** The query's id, if it is there. */
  def requireId(): String =
    logs.queryId.map(_.toString).getOrElse {
      throw refused(
        "KEYFOLD_CHECKPOINT_DAMAGED",
        s"the file ${logs.location}/${QueryId.Place}, which has the id of the query, is lost. Restore " +
          "it from a copy, or start the query once: the error says how Spark writes a new one"
      )
    }

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
    parallel(folders)(from.walk(_)).flatten
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
  def requireSame(entry: RewrittenFile): Unit =
    if (from.read(entry.path).exists(!Arrays.equals(_, entry.before.get))) {
      throw refused(
        "KEYFOLD_CONCURRENT_UPDATE",
        s"${from.resolve(entry.path)} was replaced meanwhile, since the query was rolled back and has run " +
          "on, or was rescaled. Copy it again"
      )
    }

  /** Copies files side by side.
    *
    * @throws io.keyfold.errors.MissingFile
    *   if retention has deleted one meanwhile
    */
  def copy(files: Seq[FileSize])(one: String => Unit): Unit = {
    val done = new AtomicInteger
    val step = math.max(files.size / 10, 50)
    val bytes = files.map(_.bytes).sum
    parallel(files) { file =>
      copy(file.path)(one)
      val n = done.incrementAndGet()
      if (n % step == 0) {
        CheckpointTools.progress(s"copied $n of ${files.size} files, $bytes bytes in all")
      }
    }
    ()
  }

  /** The same of one. */
  def copy(path: String)(one: String => Unit): Unit =
    try one(path)
    catch { case _: FileNotFoundException => throw gone(path) }

  private def gone(path: String) = new MissingFile(
    from.resolve(path).toString,
    "it existed when the copy began; a running query deletes old files. Copy a newer batch."
  )

  def refused(condition: String, reason: String) =
    new Invalid(condition, s"Cannot copy ${logs.location}: $reason.")
}

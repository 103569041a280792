package io.keyfold.spark.admin.rescale

import io.keyfold.errors.{CorruptFile, Invalid, RescaleRefused}
import io.keyfold.format.{RescalePlan, RewrittenFile}
import io.keyfold.io.BlobStore
import io.keyfold.spark.checkpoint.Command
import org.apache.hadoop.fs.FileAlreadyExistsException
import org.apache.spark.sql.keyfold.{CheckpointFiles, CheckpointLogs}

/** A rescale before a batch that was begun and not committed, or the redistribution of an operator
  * before the next batch. Its plan is what counts: from its first write on, the files of Spark that
  * it names are to have the content that it says.
  */
private[spark] final class OpenPlan(val plan: RescalePlan, files: CheckpointFiles) {
  def isUndone: Boolean = plan.isUndone

  def number: Int = RescalePlan.openNumber(plan.id).get

  /** Whether a rollback to the batch before has made it final: it still protects files, but is
    * neither finished nor undone.
    */
  private def isFinal: Boolean = plan.files.isEmpty

  /** Whether it is carried out, or undone, to the end: each file was replaced, by the plan or by
    * something later.
    */
  def isComplete: Boolean = plan.files.forall(!isLeft(_))

  def isRedistribution: Boolean = plan.isRedistribution

  /** Whether it is not undone to the end.
    *
    * @param older
    *   plans. A redistribution may have led back to what one of them found: after the undo of that
    *   one too, the content tells nothing
    */
  private def counts(older: Seq[OpenPlan]): Boolean = {
    def ledBackTo(older: OpenPlan) = older.plan.files.exists { of =>
      change(of.path).exists(it => same(it.after, of.before))
    }
    !isUndone || !isComplete && !(isRedistribution && older.exists(ledBackTo))
  }

  /** What it changes in a file, if it does. */
  def change(path: String): Option[RewrittenFile] = plan.files.find(_.path == path)

  /** Whether a file still has its old content, or has it again. */
  def isOld(path: String): Boolean =
    change(path).exists(file => same(files.read(path), file.before))

  /** The first of the files that was written since, with content that the plan does not have. */
  def changedSince: Option[String] = changed.find(!isAttempted(_))

  /** Metadata of the open batch that an attempt has written since, which has failed: the next one
    * writes them anew.
    */
  def attempted: Seq[String] = changed.filter(isAttempted)

  private def isAttempted(path: String) = path.endsWith(s"/_metadata/v2/${plan.batch}")

  private def changed = plan.files
    .filter { file =>
      val now = files.read(file.path)
      now.nonEmpty && !same(now, file.before) && !same(now, file.after)
    }
    .map(_.path)

  /** Whether a file was not replaced yet. */
  private def isLeft(file: RewrittenFile) =
    same(files.read(file.path), if (isUndone) file.after else file.before)

  private def same(a: Option[Array[Byte]], b: Option[Array[Byte]]) =
    a.map(_.toSeq) == b.map(_.toSeq)

  /** Gives the files the content that they should have.
    *
    * @throws io.keyfold.errors.RescaleRefused
    *   if another command works against it
    */
  def complete(): Unit = {
    val inOrder = if (isUndone) plan.files.reverse else plan.files
    inOrder.filter(isLeft).foreach { file =>
      val content = if (isUndone) file.before else file.after
      content.fold(files.delete(file.path))(files.replace(file.path, _))
    }
    if (!isComplete) {
      throw new RescaleRefused(
        "KEYFOLD_RESCALE_RACE",
        s"Another command changes the rescale ${plan.name} in ${files.location} at the same time. " +
          "Run `keyfold rescale` again when it has ended."
      )
    }
  }

  /** The same with the other direction, in the plan's file too. */
  def undone(blobs: BlobStore): OpenPlan = {
    val other = plan.copy(isUndone = true)
    RescalePlan.write(blobs, other)
    new OpenPlan(other, files)
  }

  /** The plan once it is final. */
  def ended: RescalePlan = plan.copy(files = Nil)

  /** Whether a driver that did not know of the rescale committed the open batch with the old number
    * of partitions. What it committed counts: the rescale must be undone. A later rescale, before
    * the next batch, changes the number again, and is not begun before this is so.
    */
  def isOvertaken(logs: CheckpointLogs, blobs: BlobStore): Boolean =
    !isUndone && !isRedistribution && OpenPlan.names(plan.batch + 1, blobs).isEmpty &&
      logs.ids(plan.batch).exists { ids =>
        plan.stores.exists { store =>
          ids.get(store.operator).exists(_.length != store.references.length)
        }
      }
}

private[spark] object OpenPlan {

  /** The newest plan before a batch that is not undone to the end; None if there is none. */
  def of(batch: Long, blobs: BlobStore, files: CheckpointFiles): Option[OpenPlan] =
    counting(batch, blobs, files).headOption

  /** All plans before a batch that are not undone to the end, newest first. */
  def counting(batch: Long, blobs: BlobStore, files: CheckpointFiles): Seq[OpenPlan] =
    all(batch, blobs, files).tails.collect {
      case plan +: older if plan.counts(older) => plan
    }.toSeq

  /** The same without redistributions: each of them changes one file, so there is nothing between
    * before and after, and nothing to finish.
    */
  def ofRescale(batch: Long, blobs: BlobStore, files: CheckpointFiles): Option[OpenPlan] =
    counting(batch, blobs, files).find(!_.isRedistribution)

  /** All plans before a batch that are not final, newest first. */
  def all(batch: Long, blobs: BlobStore, files: CheckpointFiles): Seq[OpenPlan] =
    numbers(batch, blobs).sorted.reverse.map(read(batch, _, blobs, files)).filterNot(_.isFinal)

  /** The redistributions that have changed the last batch's entry in the commit log since it, or a
    * rescale since, left it; newest first. What the oldest found is the entry as it was left. Plans
    * from before another attempt at that batch, which ran after the entry was deleted, know none of
    * its contents.
    *
    * @param path
    *   of the entry
    * @param entry
    *   as it is now
    * @param batch
    *   the next one
    */
  def redistributionsOf(
      path: String,
      entry: Array[Byte],
      batch: Long,
      blobs: BlobStore,
      files: CheckpointFiles
  ): Seq[(OpenPlan, RewrittenFile)] = {
    var contents = Set(entry.toSeq)
    val changes = for {
      plan <- all(batch, blobs, files).takeWhile(it => it.isRedistribution || it.isUndone)
      change <- plan.change(path)
      known = Set(change.before, change.after).flatten.map(_.toSeq)
      if known.exists(contents)
    } yield {
      contents ++= known
      plan -> change
    }
    changes.filter(_._1.isRedistribution)
  }

  /** Those of [[all]] that can be read. */
  def readable(batch: Long, blobs: BlobStore, files: CheckpointFiles): Seq[OpenPlan] =
    numbers(batch, blobs)
      .flatMap { number =>
        try Some(read(batch, number, blobs, files))
        catch { case _: Invalid => None }
      }
      .filterNot(_.isFinal)

  /** Writes a plan; None if another run has one of this number. */
  def create(plan: RescalePlan, files: CheckpointFiles): Option[OpenPlan] =
    try {
      files.write(s"keyfold/${plan.name}", RescalePlan.encode(plan))
      Some(new OpenPlan(plan, files))
    } catch { case _: FileAlreadyExistsException => None }

  private def read(batch: Long, number: Int, blobs: BlobStore, files: CheckpointFiles) = {
    val name = RescalePlan.nameOf(batch, RescalePlan.openId(number))
    try new OpenPlan(RescalePlan.read(blobs, name), files)
    catch {
      case e: CorruptFile =>
        throw new Invalid(
          e.condition,
          s"Cannot read ${files.location}/keyfold/$name, the plan of a rescale: ${e.detail}. Restore " +
            s"it from a copy. `${Command.fsck(files.location)}` says whether it can be deleted.",
          e
        )
    }
  }

  /** The number that the next plan before a batch gets. Only one run can create that plan: whoever
    * reads the number first, and then what the plan is to change, has read what it changes.
    */
  def nextNumber(batch: Long, blobs: BlobStore): Int =
    numbers(batch, blobs).maxOption.getOrElse(0) + 1

  private def numbers(batch: Long, blobs: BlobStore): Seq[Int] =
    names(batch, blobs).flatMap(RescalePlan.openNumber)

  /** Whether a rescale has, or may have had, the batch as its own. */
  def hasOwnPlan(batch: Long, blobs: BlobStore): Boolean =
    names(batch, blobs).exists(RescalePlan.openNumber(_).isEmpty)

  private def names(batch: Long, blobs: BlobStore): Seq[String] =
    blobs.list(RescalePlan.Folder).flatMap(RescalePlan.parseName).collect { case (`batch`, id) =>
      id
    }
}

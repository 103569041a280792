package io.keyfold.spark.admin.rescale

import io.keyfold.errors.RescaleRefused
import io.keyfold.format.{RescalePlan, RewrittenFile}
import io.keyfold.spark.checkpoint.CheckpointTools

/** A rescale before a batch that was begun and not committed, or the redistribution of an operator
  * before the next batch. Its plan is what counts: from its first write on, the files of Spark that
  * it names are to have the content that it says.
  */
private[spark] final class OpenPlan(val plan: RescalePlan, tools: CheckpointTools) {
  import tools.files

  def isUndone: Boolean = plan.isUndone

  def number: Int = plan.name.number.get

  /** Whether a rollback to the batch before has made it final: it still protects files, but is
    * neither finished nor undone.
    */
  def isFinal: Boolean = plan.files.isEmpty

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
  def counts(older: Seq[OpenPlan]): Boolean = {
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

  private def isAttempted(path: String) = path.endsWith(s"/_metadata/v2/${plan.name.batch}")

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
  def undone(): OpenPlan = {
    val other = plan.copy(isUndone = true)
    RescalePlan.write(tools.blobs, other)
    new OpenPlan(other, tools)
  }

  /** The plan once it is final. */
  def ended: RescalePlan = plan.copy(files = Nil)

  /** Whether a driver that did not know of the rescale committed the open batch with the old number
    * of partitions. What it committed counts: the rescale must be undone. A later rescale, before
    * the next batch, changes the number again, and is not begun before this is so.
    */
  def isOvertaken: Boolean =
    !isUndone && !isRedistribution && new OpenPlans(tools, plan.name.batch + 1).names.isEmpty &&
      tools.logs.ids(plan.name.batch).exists { ids =>
        plan.stores.exists { store =>
          ids.get(store.operator).exists(_.length != store.references.length)
        }
      }
}

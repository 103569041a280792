package io.keyfold.spark.admin.rescale

import io.keyfold.errors.{CorruptFile, Invalid}
import io.keyfold.format.{PlanName, RescalePlan}
import io.keyfold.spark.checkpoint.{CheckpointTools, Command}
import org.apache.hadoop.fs.FileAlreadyExistsException

/** The plans of rescales and redistributions before one batch, newest first. Each call reads them
  * anew.
  */
private[spark] final class OpenPlans(tools: CheckpointTools, batch: Long) {
  import tools.{blobs, files}

  /** Those that are not final.
    *
    * @throws io.keyfold.errors.Invalid
    *   if one is damaged
    */
  def all: Seq[OpenPlan] = numbers.map(read).filterNot(_.isFinal)

  /** Those of [[all]] that can be read. */
  def readable: Seq[OpenPlan] = numbers
    .flatMap { number =>
      try Some(read(number))
      catch { case _: Invalid => None }
    }
    .filterNot(_.isFinal)

  /** Those of [[all]] that are not undone to the end. */
  def counting: Seq[OpenPlan] = all.tails.collect {
    case plan +: older if plan.counts(older) => plan
  }.toSeq

  /** The rescale that counts. A redistribution changes one file, so there is nothing between before
    * and after, and nothing to finish.
    */
  def rescale: Option[OpenPlan] = counting.find(!_.isRedistribution)

  /** An entry of the last committed batch in the commit log, as that batch or a rescale since has
    * left it: what the oldest redistribution since has found. Plans from before another attempt at
    * that batch, which ran after the entry was deleted, know none of its contents.
    *
    * @param path
    *   of the entry
    * @param entry
    *   as it is now
    * @param operator
    *   whose redistributions are taken back; None: all
    */
  def before(path: String, entry: Array[Byte], operator: Option[Long] = None): Array[Byte] = {
    var contents = Set(entry.toSeq)
    val changes = for {
      plan <- all.takeWhile(it => it.isRedistribution || it.isUndone)
      change <- plan.change(path)
      known = Set(change.before, change.after).flatten.map(_.toSeq)
      if known.exists(contents)
    } yield {
      contents ++= known
      plan -> change
    }
    changes
      .filter { case (plan, _) =>
        plan.isRedistribution && operator.forall(it => plan.plan.stores.exists(_.operator == it))
      }
      .lastOption
      .flatMap(_._2.before)
      .getOrElse(entry)
  }

  /** Writes a plan; None if another run has one of this number. */
  def create(plan: RescalePlan): Option[OpenPlan] =
    try {
      files.write(plan.name.path, RescalePlan.encode(plan))
      Some(new OpenPlan(plan, tools))
    } catch { case _: FileAlreadyExistsException => None }

  /** The number that the next plan gets. Only one run can create that plan: whoever reads the
    * number first, and then what the plan is to change, has read what it changes.
    */
  def nextNumber: Int = numbers.headOption.getOrElse(0) + 1

  /** Whether a rescale has, or may have had, the batch as its own. */
  def hasOwn: Boolean = names.exists(!_.isOpen)

  /** Of all plans, also those of rescales that have the batch as their own. */
  def names: Seq[PlanName] =
    blobs.list(PlanName.Folder).flatMap(PlanName.parse).filter(_.batch == batch)

  private def numbers: Seq[Int] = names.flatMap(_.number).sorted.reverse

  private def read(number: Int) = {
    val name = PlanName.open(batch, number)
    try new OpenPlan(RescalePlan.read(blobs, name), tools)
    catch {
      case e: CorruptFile =>
        throw new Invalid(
          e.condition,
          s"Cannot read ${files.location}/${name.path}, the plan of a rescale: ${e.detail}. Restore " +
            s"it from a copy. `${Command.fsck(files.location)}` says whether it can be deleted.",
          e
        )
    }
  }
}

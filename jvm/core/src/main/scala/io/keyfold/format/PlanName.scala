package io.keyfold.format

import io.keyfold.errors.CorruptFile

/** Names the plan of a rescale or a redistribution, and its files: docs/FORMAT.md, section 10.
  *
  * @param batch
  *   the rescale's own, or the open batch before which it is
  */
final case class PlanName(batch: Long, id: String) {

  /** Its number among the plans before the same open batch; None if it has a batch of its own. */
  def number: Option[Int] = id match {
    case PlanName.Open(number) => Some(number.toInt)
    case _                     => None
  }

  /** Whether it is before an open batch, and has no batch of its own. */
  def isOpen: Boolean = number.nonEmpty

  /** The batch whose state it makes. */
  def stateBatch: Long = if (isOpen) batch - 1 else batch

  /** Of its references. */
  def version: Long = stateBatch + 1

  /** While the plan exists, no file of a version below this is deleted: it may be of the old
    * layout. Before an open batch, files of [[version]] with other ids are.
    */
  def floor: Long = batch + 1

  /** Path of the plan, relative to the checkpoint. */
  def path: String = s"${PlanName.Folder}/$this"

  /** Path of its manifest. */
  def manifest: String = s"${PlanName.Folder}/rescale-$stateBatch-$id.manifest"

  /** The name of the plan's file. */
  override def toString: String = s"rescale-$batch-$id.plan"
}

object PlanName {

  /** The checkpoint's folder of Keyfold's own files: plans, manifests, what rollbacks set aside. */
  val Folder = "keyfold"

  private val Plan = """rescale-(\d{1,18})-([0-9a-zA-Z-]+)\.plan""".r
  private val OfManifest = """rescale-(\d{1,18})-([0-9a-zA-Z-]+)\.manifest""".r
  private val Open = """open-(\d{1,9})""".r

  /** The n-th plan before an open batch. */
  def open(batch: Long, number: Int): PlanName = PlanName(batch, s"open-$number")

  /** None if the file is no plan. */
  def parse(file: String): Option[PlanName] = file match {
    case Plan(batch, id) => Some(PlanName(batch.toLong, id))
    case _               => None
  }

  /** The plan that a manifest belongs to; None if the file is no manifest. */
  def ofManifest(file: String): Option[PlanName] = file match {
    case OfManifest(stateBatch, id) =>
      val own = PlanName(stateBatch.toLong, id)
      Some(if (own.isOpen) own.copy(batch = own.batch + 1) else own)
    case _ => None
  }

  /** The plan that a file is, or belongs to: its manifest exists only as long as the plan, unless
    * the plan was lost.
    */
  def ofFile(file: String): Option[PlanName] = parse(file).orElse(ofManifest(file))

  /** The plan that made a reference.
    *
    * @throws io.keyfold.errors.CorruptFile
    *   if the reference names none
    */
  def of(reference: Footer): PlanName = {
    val id = reference.references.fold("")(_.planId)
    val file = s"rescale-${reference.identity.version.version - 1}-$id.manifest"
    ofManifest(file).getOrElse {
      throw new CorruptFile(
        s"$Folder/$file",
        s"a reference names it by '$id', which is no id of a plan"
      )
    }
  }
}

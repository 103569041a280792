package io.keyfold.model

import io.keyfold.errors.Invalid

/** One attempt at a version: its number and, under Spark's checkpoint format v2, the attempt's id
  * (empty under v1). The id is unique, or it leads to an earlier version that has the same rows:
  * docs/FORMAT.md, section 2.1.
  */
final case class VersionId(version: Long, id: String = "") {

  /** The version whose files have its rows: this one, unless nothing has changed since an earlier
    * one.
    *
    * @throws io.keyfold.errors.Invalid
    *   if the id leads to no earlier version: ids come from Spark's commit log, which may be
    *   damaged
    */
  def written: VersionId =
    if (!id.startsWith(VersionId.Same)) this
    else
      earlier.getOrElse {
        throw new Invalid(
          "KEYFOLD_CHECKPOINT_DAMAGED",
          s"Cannot use '$id' as the id of version $version: it leads to no earlier version. " +
            "Restore the checkpoint's commit log from a copy."
        )
      }

  /** The version to which the id leads; None if it leads to none. */
  private def earlier: Option[VersionId] = id match {
    case VersionId.Leads(number, unique)
        if Names.isId(unique) && number.toLongOption.exists(_ < version) =>
      Some(VersionId(number.toLong, unique))
    case _ => None
  }

  /** Another attempt at this version, with other rows, in place of [[original]].
    *
    * @param unique
    *   a new id
    */
  def again(unique: String): VersionId = {
    val place = if (original.version == version) original.id else s"${VersionId.Same}$original"
    copy(id = s"$unique${VersionId.Again}$place")
  }

  /** The version in whose place the files are; itself if it was written and is in no other's. */
  def original: VersionId = {
    val files = earlier.getOrElse(this)
    val place = files.copy(id = files.id.drop(files.id.indexOf(VersionId.Again) + 1))
    place.earlier.getOrElse(place)
  }

  /** The next version, if it has the same rows and is not written. */
  def unchanged: VersionId = VersionId(version + 1, s"${VersionId.Same}$written")

  override def toString: String = if (id.isEmpty) version.toString else s"${version}_$id"
}

object VersionId {

  /** Version 0, which every store starts from: no rows and no files. */
  val Empty: VersionId = VersionId(0L)

  /** What ids begin with that lead to another version. */
  private[model] val Same = "="

  /** Between a new id and that of the attempt in whose place it is. */
  private val Again = '~'

  private val Leads = s"(?s)$Same([1-9][0-9]{0,18})_(.+)".r
}

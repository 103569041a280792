package io.keyfold.format

import io.keyfold.errors.Invalid
import io.keyfold.model.{Names, VersionId}

/** Kind of a file: its code in header, trailer and lineage, and its file name extension. */
sealed abstract class FileKind(val code: Int, val ending: String) {

  /** Whether its entries say what has changed, and not all rows of a version. */
  def isChange: Boolean = false

  /** Whether a load may begin below its versions: a snapshot or a merged delta. */
  def isTier: Boolean = false

  /** Of a merged delta: number of the version that it is applied to. */
  def base: Option[Long] = None

  /** File name of this kind for a version.
    *
    * @throws io.keyfold.errors.Invalid
    *   if the id cannot be part of a file name: ids come from Spark's commit log, which may be
    *   damaged
    */
  def nameOf(version: VersionId): String = {
    if (!Names.isId(version.id)) {
      throw new Invalid(
        "KEYFOLD_CHECKPOINT_DAMAGED",
        s"Cannot use '${version.id}' as the id of version ${version.version}: it would lead to " +
          "another folder. Restore the checkpoint's commit log from a copy."
      )
    }
    s"$version${base.fold("")(number => s".$number")}.$ending"
  }
}

object FileKind {
  case object Delta extends FileKind(1, "delta") { override def isChange: Boolean = true }
  case object Snapshot extends FileKind(2, "snapshot") { override def isTier: Boolean = true }
  case object Reference extends FileKind(3, "ref")

  /** A merged delta, of the changes after the version `after`. */
  final case class Merged(after: Long) extends FileKind(Merged.Code, Merged.Ending) {
    override def isChange: Boolean = true
    override def isTier: Boolean = true
    override def base: Option[Long] = Some(after)
  }
  object Merged {
    val Code = 5
    private[FileKind] val Ending = "merged"
  }

  private val plain = Seq(Delta, Snapshot, Reference)
  private val Name =
    """([1-9][0-9]{0,18})(?:_([^/.]+))?(?:\.([1-9][0-9]{0,18}))?\.([a-z]+)""".r

  /** @param base
    *   of a merged delta
    */
  def ofCode(code: Int, base: => Long): Option[FileKind] =
    if (code == Merged.Code) Some(Merged(base)) else plain.find(_.code == code)

  /** The name of a file that is being written, or whose writer was killed. */
  private val Unfinished =
    """\.(.+)\.[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?:\.TID\d+)?\.tmp""".r

  /** Version and kind of a file that is not finished, by its temporary name. */
  def parseUnfinished(name: String): Option[(VersionId, FileKind)] = name match {
    case Unfinished(target) => parse(target)
    case _                  => None
  }

  /** Version and kind of a file name; None if it is not a Keyfold name. */
  def parse(name: String): Option[(VersionId, FileKind)] = name match {
    case Name(version, id, base, ending) =>
      for {
        number <- version.toLongOption
        unique = Option(id).getOrElse("") if Names.isId(unique)
        kind <- if (base == null) plain.find(_.ending == ending) else merged(base, ending)
        if isOfVersion(kind, number, unique)
      } yield (VersionId(number, unique), kind)
    case _ => None
  }

  private def merged(base: String, ending: String) =
    base.toLongOption.filter(_ => ending == Merged.Ending).map(Merged(_))

  /** Whether a version may have a file of this kind. */
  private[format] def isOfVersion(kind: FileKind, number: Long, id: String): Boolean =
    kind.base.forall(after => after > 0 && after < number && id.nonEmpty)
}

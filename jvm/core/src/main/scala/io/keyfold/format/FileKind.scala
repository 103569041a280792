package io.keyfold.format

import io.keyfold.errors.Invalid
import io.keyfold.model.{Names, VersionId}

/** Kind of a file: its code in header, trailer and lineage, and its file name extension. */
sealed abstract class FileKind(val code: Int, val ending: String) {

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
    s"$version.$ending"
  }
}

object FileKind {
  case object Delta extends FileKind(1, "delta")
  case object Snapshot extends FileKind(2, "snapshot")
  case object Reference extends FileKind(3, "ref")

  private val all = Seq(Delta, Snapshot, Reference)
  private val Name = """([1-9][0-9]{0,18})(?:_([^/.]+))?\.([a-z]+)""".r

  def ofCode(code: Int): Option[FileKind] = all.find(_.code == code)

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
    case Name(version, id, ending) =>
      for {
        number <- version.toLongOption
        unique = Option(id).getOrElse("") if Names.isId(unique)
        kind <- all.find(_.ending == ending)
      } yield (VersionId(number, unique), kind)
    case _ => None
  }
}

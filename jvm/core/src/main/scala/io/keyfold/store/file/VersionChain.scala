package io.keyfold.store.file

import io.keyfold.format.{Ancestor, FileKind}
import io.keyfold.model.VersionId

/** Files that together give a version: docs/FORMAT.md, sections 2 and 4.2.
  *
  * @param start
  *   snapshot or reference to start from; None: starts empty
  * @param deltas
  *   to apply after it, oldest first
  */
private[keyfold] final case class VersionChain(start: Option[Ancestor], deltas: List[VersionId])

private[keyfold] object VersionChain {

  /** The kinds of files that can be the head of a version, in the order to look for them. */
  val HeadKinds: Seq[FileKind] = Seq(FileKind.Delta, FileKind.Reference, FileKind.Snapshot)

  /** A version and all versions that it builds on, newest first. A lineage ends at a snapshot;
    * below it the lineage of that version's own head continues. If that head is a reference, the
    * version comes a second time, as a reference.
    *
    * @param lineage
    *   of the version, its head included
    * @param lineageOf
    *   the same for a version further down; empty if it is not known. Called only once the elements
    *   above are used up
    */
  def ancestry(
      lineage: List[Ancestor]
  )(lineageOf: VersionId => List[Ancestor]): Iterator[Ancestor] = Iterator
    .iterate(lineage)(it => if (isEnd(it.last)) Nil else below(lineageOf(it.last.version)))
    .takeWhile(_.nonEmpty)
    .flatten

  private def isEnd(here: Ancestor) =
    here.kind == FileKind.Reference || here.version.version == 1

  private def below(lineage: List[Ancestor]) =
    if (lineage.headOption.exists(_.kind == FileKind.Reference)) lineage.take(1)
    else lineage.drop(1)

  /** All chains that give a version, beginning with the one that has the fewest deltas.
    *
    * @param ancestry
    *   of the version
    * @param hasSnapshot
    *   whether there is a snapshot of an ancestor to start from
    */
  def all(
      ancestry: Iterator[Ancestor]
  )(hasSnapshot: Ancestor => Boolean): Iterator[VersionChain] = {
    var newer = List.empty[VersionId]
    ancestry.flatMap { here =>
      val deltas = newer.dropWhile(_ == here.version)
      newer = here.version :: deltas
      val snapshot = Option.when(hasSnapshot(here)) {
        VersionChain(Some(Ancestor(here.version, FileKind.Snapshot)), deltas)
      }
      val other =
        if (here.kind == FileKind.Reference) Some(VersionChain(Some(here), deltas))
        else Option.when(here.version.version == 1)(VersionChain(None, newer))
      snapshot ++ other
    }
  }
}

package io.keyfold.store.file

import scala.annotation.tailrec

import io.keyfold.format.{Ancestor, FileKind}

/** Files that together give a version: docs/FORMAT.md, sections 2 and 4.2.
  *
  * @param start
  *   snapshot or reference to start from; None: starts empty
  * @param changes
  *   deltas and merged deltas to apply after it, oldest first
  */
private[keyfold] final case class VersionChain(start: Option[Ancestor], changes: List[Ancestor])

private[keyfold] object VersionChain {

  /** The kinds of files that can be the head of a version, in the order to look for them. */
  val HeadKinds: Seq[FileKind] = Seq(FileKind.Delta, FileKind.Reference, FileKind.Snapshot)

  /** A version and all versions that it builds on, newest first. A lineage ends at a snapshot, and
    * leaves out versions at a merged delta: below these it goes on with what the file was made of.
    * If that is a reference, the version comes a second time, as a reference.
    *
    * @param lineage
    *   of the version, its head included
    * @param lineageOf
    *   the same for a version further down; empty if it is not known. Called only once the elements
    *   above are used up
    */
  def ancestry(
      lineage: List[Ancestor]
  )(lineageOf: Ancestor => List[Ancestor]): Iterator[Ancestor] =
    Iterator.unfold(() => lineage)(left =>
      left() match {
        case here :: below => Some(here -> (() => next(here, below, lineageOf)))
        case Nil           => None
      }
    )

  private def next(
      here: Ancestor,
      below: List[Ancestor],
      lineageOf: Ancestor => List[Ancestor]
  ) =
    if (isEnd(here)) Nil
    else if (here.kind == FileKind.Delta && below.nonEmpty) below
    else
      lineageOf(here) match {
        case Nil                                          => below
        case head :: _ if head.kind == FileKind.Reference => List(head)
        case _ :: older                                   => older
      }

  private def isEnd(here: Ancestor) =
    here.kind == FileKind.Reference || here.version.version == 1

  /** The chain with the fewest files that gives a version. If there is none, merged deltas count
    * whose base is none of the lineage's versions, as another executor may write them that knows
    * more of these: below such a file, its own lineage goes on.
    *
    * @param lineage
    *   of the version, its head included
    * @param tiers
    *   what may take the place of deltas
    * @return
    *   None if the lineage does not lead to rows
    */
  def of(lineage: List[Ancestor], tiers: Tiers): Option[VersionChain] =
    search(lineage, tiers, anyBase = false).orElse(search(lineage, tiers, anyBase = true))

  private def search(
      lineage: List[Ancestor],
      tiers: Tiers,
      anyBase: Boolean
  ): Option[VersionChain] = {

    /** A merged delta without what it is applied to is of no use: another way is looked for. */
    @tailrec
    def without(unusable: Set[Ancestor]): Option[VersionChain] =
      go(lineage, Nil, unusable) match {
        case Right(chain) => Some(chain)
        case Left(newer)  =>
          newer.find(_.kind.base.isDefined) match {
            case Some(merged) => without(unusable + merged)
            case None         => None
          }
      }

    /** The chain, or the files above the one below which there is nothing. */
    @tailrec
    def go(
        left: List[Ancestor],
        newer: List[Ancestor],
        unusable: Set[Ancestor]
    ): Either[List[Ancestor], VersionChain] = left match {
      case Nil           => Left(newer)
      case here :: below =>
        lazy val merged = tiers
          .merged(here)
          .map(Ancestor(here.version, _))
          .filter(it => (anyBase || from(below, it.kind.base.get).nonEmpty) && !unusable(it))
          .minByOption(_.kind.base)
        lazy val changes = Ancestor(here.version, FileKind.Delta) :: newer
        if (tiers.hasSnapshot(here)) {
          Right(VersionChain(Some(Ancestor(here.version, FileKind.Snapshot)), newer))
        } else if (merged.isDefined) {
          val after = merged.get.kind.base.get
          val older = from(below, after)
          go(
            if (older.nonEmpty) older else from(tiers.lineageIn(merged.get), after),
            merged.get :: newer,
            unusable
          )
        } else if (here.kind == FileKind.Reference) Right(VersionChain(Some(here), newer))
        else if (here.version.version == 1) Right(VersionChain(None, changes))
        else if (here.kind == FileKind.Delta && below.nonEmpty) go(below, changes, unusable)
        else {
          tiers.lineageBelow(here) match {
            case head :: _ if head.kind == FileKind.Reference => go(List(head), newer, unusable)
            case _ :: (older @ _ :: _)                        =>
              go(Ancestor(here.version, FileKind.Delta) :: older, newer, unusable)
            case _ => Left(newer)
          }
        }
    }
    without(Set.empty)
  }

  /** A lineage from a version on; nothing if it is none of its versions. */
  private def from(lineage: List[Ancestor], base: Long) = {
    val older = lineage.dropWhile(_.version.version > base)
    if (older.headOption.exists(_.version.version == base)) older else Nil
  }

  /** Files that a chain may use in the place of deltas. */
  trait Tiers {

    /** Whether the snapshot of a version may be used. */
    def hasSnapshot(here: Ancestor): Boolean

    /** Its merged deltas that may be used. */
    def merged(here: Ancestor): Seq[FileKind]

    /** The lineage in a merged delta, its version included; empty if it cannot be read. */
    def lineageIn(merged: Ancestor): List[Ancestor]

    /** The lineage of the head of a version whose snapshot or merged delta cannot be used; empty if
      * there is no such head.
      */
    def lineageBelow(here: Ancestor): List[Ancestor]
  }
}

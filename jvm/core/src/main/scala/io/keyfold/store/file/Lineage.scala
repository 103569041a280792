package io.keyfold.store.file

import io.keyfold.format.{Ancestor, FileKind, Fingerprint}
import io.keyfold.model.{Family, VersionId}

/** A version's head and the files it builds on: docs/FORMAT.md, section 4.2.
  *
  * @param elements
  *   newest first, starting with the head: down to the newest durable snapshot, which then has kind
  *   snapshot, or to version 1; empty for version 0
  * @param bytes
  *   sizes of the files among them that have been read or written
  * @param file
  *   the head's delta or reference; if a snapshot was read instead, the head that the snapshot
  *   names
  * @param rows
  *   of the head's version; 0 if not known
  * @param snapshotRows
  *   of the snapshot's version; 0 if not known
  * @param made
  *   what the head's delta builds on, if the head is given by another file
  */
private[store] final case class Lineage(
    elements: List[Ancestor],
    bytes: Map[VersionId, Long] = Map.empty,
    file: Option[Fingerprint] = None,
    made: Option[List[Ancestor]] = None,
    rows: Long = 0,
    snapshotRows: Long = 0
) {
  def head: Ancestor = elements.head

  /** What the head's delta builds on. */
  def ancestors: List[Ancestor] = made.getOrElse(elements.tail)

  /** The oldest element: the snapshot, if there is one. */
  def bottom: Ancestor = elements.last

  /** Number of files to read on top of the newest snapshot. */
  def changes: Int = elements.count(_.kind != FileKind.Snapshot)

  /** Size of the deltas among them, without those that were merged. */
  def deltaBytes: Long = sizes(_.kind == FileKind.Delta)

  /** Size of the files of some elements, as far as it is known. */
  def sizes(which: Ancestor => Boolean): Long =
    elements.iterator.filter(which).map(it => bytes.getOrElse(it.version, 0L)).sum

  /** The lineage of the version that a file makes on top of this one.
    *
    * @param rows
    *   of that version
    */
  def grown(newest: Ancestor, file: Fingerprint, rows: Long): Lineage = Lineage(
    newest :: elements,
    bytes + (newest.version -> file.length),
    Some(file),
    rows = rows,
    snapshotRows = if (newest.kind == FileKind.Snapshot) rows else snapshotRows
  )

  /** The same lineage, once a snapshot or merged delta of a version is durable.
    *
    * @param length
    *   of the file in bytes
    * @param rows
    *   of the version
    */
  def withTier(tier: Ancestor, length: Long, rows: Long): Lineage = {
    val (newer, rest) = elements.span(_.version != tier.version)
    val below = tier.kind.base.fold(List.empty[Ancestor]) { after =>
      rest.dropWhile(_.version.version > after)
    }
    val fits =
      rest.nonEmpty && tier.kind.base.forall(below.headOption.map(_.version.version).contains)
    if (!fits) this
    else {
      val kept = newer ++ (tier :: below)
      val known = kept.flatMap(it => bytes.get(it.version).map(it.version -> _)).toMap
      copy(
        elements = kept,
        bytes = known + (tier.version -> length),
        made = if (newer.isEmpty) Some(ancestors) else made,
        snapshotRows = if (tier.kind == FileKind.Snapshot) rows else snapshotRows
      )
    }
  }
}

private[store] object Lineage {

  /** Rows of a version, each value of a list counted. */
  def rowsOf(families: Seq[Family]): Long = families.map(_.values.max(0L)).sum

  /** The lineage of version 0, which has no file. */
  val Empty: Lineage = Lineage(Nil)
}

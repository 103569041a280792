package io.keyfold.store

import io.keyfold.format.{Ancestor, FileKind, VersionId}

/** A version's head and what it builds on: docs/FORMAT.md, section 4.2.
  *
  * @param elements
  *   newest first, the head included: down to the newest snapshot known to be durable, which is
  *   then of kind snapshot, or to version 1; none for version 0
  * @param bytes
  *   of the delta files among them, as far as they have been read or written
  */
private[store] final case class Lineage(
    elements: List[Ancestor],
    bytes: Map[VersionId, Long] = Map.empty
) {
  def head: Ancestor = elements.head
  def ancestors: List[Ancestor] = elements.tail

  /** The snapshot that it starts from, or what there is in its place. */
  def bottom: Ancestor = elements.last

  /** Files to read on top of the newest snapshot. */
  def deltas: Int = elements.count(_.kind != FileKind.Snapshot)

  /** Bytes of those files. */
  def deltaBytes: Long = bytes.valuesIterator.sum

  /** That of the version which a delta of so many bytes makes on top. */
  def grown(version: VersionId, length: Long): Lineage =
    Lineage(Ancestor(version, FileKind.Delta) :: elements, bytes + (version -> length))

  /** The same, given that a snapshot of `version` is durable. */
  def cutAt(version: VersionId): Lineage = {
    val (newer, rest) = elements.span(_.version != version)
    if (rest.isEmpty) this
    else {
      Lineage(
        newer :+ Ancestor(version, FileKind.Snapshot),
        bytes.filter { case (v, _) => newer.exists(_.version == v) }
      )
    }
  }
}

private[store] object Lineage {

  /** Of version 0, which has no file. */
  val Empty: Lineage = Lineage(Nil)
}

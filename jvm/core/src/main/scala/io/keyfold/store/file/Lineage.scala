package io.keyfold.store.file

import io.keyfold.format.{Ancestor, FileKind, Fingerprint}
import io.keyfold.model.VersionId

/** A version's head and what it builds on: docs/FORMAT.md, section 4.2.
  *
  * @param elements
  *   newest first, the head included: down to the newest snapshot known to be durable, which is
  *   then of kind snapshot, or to version 1; none for version 0
  * @param bytes
  *   of the delta files among them, as far as they have been read or written
  * @param file
  *   the head's delta or reference, or what the snapshot says of it that was read in its place
  */
private[store] final case class Lineage(
    elements: List[Ancestor],
    bytes: Map[VersionId, Long] = Map.empty,
    file: Option[Fingerprint] = None
) {
  def head: Ancestor = elements.head
  def ancestors: List[Ancestor] = elements.tail

  /** The snapshot that it starts from, or what there is in its place. */
  def bottom: Ancestor = elements.last

  /** Files to read on top of the newest snapshot. */
  def deltas: Int = elements.count(_.kind != FileKind.Snapshot)

  /** Bytes of those files. */
  def deltaBytes: Long = bytes.valuesIterator.sum

  /** That of the version which a delta makes on top. */
  def grown(version: VersionId, delta: Fingerprint): Lineage = Lineage(
    Ancestor(version, FileKind.Delta) :: elements,
    bytes + (version -> delta.length),
    Some(delta)
  )

  /** The same, given that a snapshot of `version` is durable. */
  def cutAt(version: VersionId): Lineage = {
    val (newer, rest) = elements.span(_.version != version)
    if (rest.isEmpty) this
    else {
      Lineage(
        newer :+ Ancestor(version, FileKind.Snapshot),
        bytes.filter { case (v, _) => newer.exists(_.version == v) },
        file
      )
    }
  }
}

private[store] object Lineage {

  /** Of version 0, which has no file. */
  val Empty: Lineage = Lineage(Nil)
}

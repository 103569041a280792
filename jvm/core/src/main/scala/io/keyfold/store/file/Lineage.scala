package io.keyfold.store.file

import io.keyfold.format.{Ancestor, FileKind, Fingerprint}
import io.keyfold.model.VersionId

/** A version's head and the files it builds on: docs/FORMAT.md, section 4.2.
  *
  * @param elements
  *   newest first, starting with the head: down to the newest durable snapshot, which then has kind
  *   snapshot, or to version 1; empty for version 0
  * @param bytes
  *   sizes of the delta files among them that have been read or written
  * @param file
  *   the head's delta or reference; if a snapshot was read instead, the head that the snapshot
  *   names
  */
private[store] final case class Lineage(
    elements: List[Ancestor],
    bytes: Map[VersionId, Long] = Map.empty,
    file: Option[Fingerprint] = None
) {
  def head: Ancestor = elements.head
  def ancestors: List[Ancestor] = elements.tail

  /** The oldest element: the snapshot, if there is one. */
  def bottom: Ancestor = elements.last

  /** Number of files to read on top of the newest snapshot. */
  def deltas: Int = elements.count(_.kind != FileKind.Snapshot)

  /** Size of those files. */
  def deltaBytes: Long = bytes.valuesIterator.sum

  /** The lineage of the version that `delta` makes on top of this one. */
  def grown(version: VersionId, delta: Fingerprint): Lineage = Lineage(
    Ancestor(version, FileKind.Delta) :: elements,
    bytes + (version -> delta.length),
    Some(delta)
  )

  /** The same lineage, once a snapshot of `version` is durable. */
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

  /** The lineage of version 0, which has no file. */
  val Empty: Lineage = Lineage(Nil)
}

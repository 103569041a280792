package io.keyfold.store

import io.keyfold.format.{Ancestor, FileKind, VersionId}

/** A version's head and what it builds on: docs/FORMAT.md, section 4.2. Its last element, which may
  * be the head itself, is of kind snapshot when one is known to be durable.
  *
  * @param ancestors
  *   newest first, down to the newest snapshot known to be durable, or to version 1
  */
private[store] final case class Lineage(head: Ancestor, ancestors: List[Ancestor]) {

  /** The snapshot that it starts from, or what there is in its place. */
  def bottom: Ancestor = ancestors.lastOption.getOrElse(head)

  /** Files to read on top of the newest snapshot. */
  def deltas: Int = (head :: ancestors).count(_.kind != FileKind.Snapshot)

  /** The same, given that a snapshot of `version` is durable. */
  def cutAt(version: VersionId): Lineage = {
    val (newer, rest) = (head :: ancestors).span(_.version != version)
    if (rest.isEmpty) this
    else {
      val cut = newer :+ Ancestor(version, FileKind.Snapshot)
      Lineage(cut.head, cut.tail)
    }
  }
}

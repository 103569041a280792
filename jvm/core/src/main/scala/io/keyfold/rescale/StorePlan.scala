package io.keyfold.rescale

import io.keyfold.format.{Layer, ManifestPart}
import io.keyfold.group.Reassignment
import io.keyfold.model.Family

/** What becomes of one store.
  *
  * @param to
  *   the new number of partitions
  * @param keyGroups
  *   G
  * @param layers
  *   the old files, each once; oldest layer first
  * @param partitions
  *   the new ones; only partition 0 of a store whose rows all live there
  * @param frozen
  *   folders of the old layout, and of other files that the new one refers to
  */
final case class StorePlan(
    operator: Long,
    store: String,
    to: Int,
    keyGroups: Int,
    layers: Seq[Layer],
    partitions: IndexedSeq[PartitionPlan],
    frozen: Seq[String]
) {

  /** Bytes of the files that are referred to, each counted once. */
  def referencedBytes: Long =
    layers.flatMap(_.of).flatMap(_.files).map(f => f.path -> f.length).toMap.valuesIterator.sum

  /** Parts of the manifest: of each layer one for each class of partitions. */
  def parts: Seq[Layer] = layers.flatMap { layer =>
    val move = moveOf(layer)
    val byClass = layer.of.groupBy(it => move.classOf(it.partition))
    (0 until move.classes).map(c => Layer(layer.partitions, byClass.getOrElse(c, Nil)))
  }

  /** Those of [[parts]] that a new partition needs, by where they were written. */
  def partsOf(partition: Int, written: IndexedSeq[ManifestPart]): Seq[ManifestPart] = {
    val moves = layers.map(moveOf)
    moves.zip(moves.scanLeft(0)(_ + _.classes)).map { case (move, first) =>
      written(first + move.classOf(partition))
    }
  }

  private def moveOf(layer: Layer) = new Reassignment(layer.partitions, to, keyGroups)
}

/** What a new partition is put together from.
  *
  * @param families
  *   how much they hold is -1 where it cannot be known without reading rows
  * @param firstLoadFiles
  *   how many files the first load opens
  * @param firstLoadBytes
  *   about what it reads of their rows, at most
  * @param filtersRows
  *   whether rows have to be looked at, since the key groups do not say all
  */
final case class PartitionPlan(
    partition: Int,
    families: Seq[Family],
    firstLoadFiles: Int,
    firstLoadBytes: Long,
    filtersRows: Boolean
)

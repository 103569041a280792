package io.keyfold.rescale

import io.keyfold.format.{Layer, ManifestPart}
import io.keyfold.group.Reassignment
import io.keyfold.model.Family

/** The rescale of one store.
  *
  * @param to
  *   the new number of partitions
  * @param keyGroups
  *   G
  * @param layers
  *   the old files, each once; oldest layer first
  * @param partitions
  *   the new ones; only partition 0 if it has all rows
  * @param frozen
  *   folders of the old layout, and of other files that the new layout refers to
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

  /** Bytes of the referenced files, each counted once. */
  def referencedBytes: Long =
    layers.flatMap(_.members).flatMap(_.files).map(f => f.path -> f.length).toMap.valuesIterator.sum

  /** Parts of the manifest: for each layer one per class of partitions. */
  def parts: Seq[Layer] = layers.flatMap { layer =>
    val move = moveOf(layer)
    val byClass = layer.members.groupBy(it => move.classOf(it.partition))
    (0 until move.classes).map(c => Layer(layer.partitions, byClass.getOrElse(c, Nil)))
  }

  /** The places of those of [[parts]] that a new partition needs. */
  def partsOf(partition: Int, written: IndexedSeq[ManifestPart]): Seq[ManifestPart] = {
    val moves = layers.map(moveOf)
    moves.zip(moves.scanLeft(0)(_ + _.classes)).map { case (move, first) =>
      written(first + move.classOf(partition))
    }
  }

  private def moveOf(layer: Layer) = new Reassignment(layer.partitions, to, keyGroups)
}

/** The contents and first load of a new partition.
  *
  * @param families
  *   sizes are -1 where they are unknown without reading rows
  * @param firstLoadFiles
  *   number of files the first load opens
  * @param firstLoadBytes
  *   estimated maximum of stored bytes it reads
  * @param filtersRows
  *   whether single rows have to be filtered, because key groups alone do not decide
  */
final case class PartitionPlan(
    partition: Int,
    families: Seq[Family],
    firstLoadFiles: Int,
    firstLoadBytes: Long,
    filtersRows: Boolean
)

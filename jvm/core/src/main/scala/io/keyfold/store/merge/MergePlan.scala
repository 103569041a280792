package io.keyfold.store.merge

import io.keyfold.format.{Ancestor, FileKind}
import io.keyfold.store.file.Lineage

/** Which files of a lineage are merged next: all deltas, and of the merged deltas below them the
  * newest, as long as they are smaller than what they are merged with. So the sizes of merged
  * deltas grow geometrically, and each row is written a logarithmic number of times, as in
  * size-tiered compaction (Bigtable, Cassandra).
  */
private[store] object MergePlan {

  /** A merged delta is merged again if it has at most this share of the bytes of what is newer.
    * Less than one, since deltas are alike in size: of two files of one size the older stays, and a
    * later merge of as many bytes as both have takes it.
    */
  private val Growth = 0.9

  /** What a partition's share is multiplied with, so that the snapshots of all partitions, whose
    * states grow alike, do not come together: from 0.75 to 1.25, evenly for any number of
    * partitions (multiples of the golden ratio, modulo 1).
    */
  def spread(partition: Int): Double = 0.75 + 0.5 * ((partition + 1) * GoldenRatio % 1)

  private val GoldenRatio = (math.sqrt(5) - 1) / 2

  /** @param most
    *   files to read on top of a snapshot, from which on some are merged
    * @param share
    *   of the bytes that a snapshot would have, which the files on top of the last one reach before
    *   the next one is due
    * @return
    *   newest first, beginning with the head; fewer than two if there is nothing to merge. None if
    *   a snapshot is due instead
    */
  def of(lineage: Lineage, most: Int, share: Double): Option[List[Ancestor]] = {
    val (changes, snapshot) = lineage.elements.span(_.kind.isChange)
    val (deltas, merged) = changes.span(_.kind == FileKind.Delta)
    val isMergeable = lineage.head.version.id.nonEmpty &&
      snapshot.headOption.exists(it => it.kind == FileKind.Snapshot && it.version.id.nonEmpty) &&
      sizeOf(lineage, changes) < share * sizeOf(lineage, snapshot) * shrunk(lineage)
    Option.when(isMergeable) {
      if (deltas.isEmpty) Nil else withNewest(lineage, deltas, merged, math.max(most - 2, 2))
    }
  }

  @scala.annotation.tailrec
  private def withNewest(
      lineage: Lineage,
      chosen: List[Ancestor],
      merged: List[Ancestor],
      mostLeft: Int
  ): List[Ancestor] = merged match {
    case newest :: older
        if merged.lengthIs >= mostLeft ||
          sizeOf(lineage, List(newest)) <= Growth * sizeOf(lineage, chosen) =>
      withNewest(lineage, chosen :+ newest, older, mostLeft)
    case _ => chosen
  }

  /** What a snapshot of fewer rows would have of the bytes of the last one. */
  private def shrunk(lineage: Lineage) =
    if (lineage.snapshotRows == 0) 1.0
    else math.min(1.0, lineage.rows.toDouble / lineage.snapshotRows)

  private def sizeOf(lineage: Lineage, files: List[Ancestor]) = lineage.sizes(files.contains)
}

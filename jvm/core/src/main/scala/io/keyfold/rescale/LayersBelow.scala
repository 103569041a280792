package io.keyfold.rescale

import java.io.FileNotFoundException

import io.keyfold.errors.MissingFile
import io.keyfold.format.{Footer, Layer, Manifest, PlanName}
import io.keyfold.io.BlobStore

/** The layers that manifests of earlier rescales list for partitions that still use them. */
private[rescale] final class LayersBelow(blobs: BlobStore) {

  /** @param references
    *   footers of the references of one store that are still in use
    * @return
    *   oldest first; each file once
    * @throws io.keyfold.errors.StoreError
    *   if a manifest cannot be read
    */
  def of(references: Seq[Footer]): Seq[Layer] = {
    val read =
      references.groupBy(PlanName.of(_).manifest).toSeq.sortBy(_._1).map((readAll _).tupled)
    if (read.isEmpty) Nil
    else {
      // Without ids, references of two rescales that raced may exist side by side.
      if (read.map(_.map(_.partitions)).distinct.length > 1) throw contradiction(references.head)
      read.transpose.map(same => merged(same, references.head))
    }
  }

  private def readAll(path: String, references: Seq[Footer]): Seq[Layer] =
    try {
      val manifest = Manifest.open(blobs, path, tail = Int.MaxValue)
      try {
        val parts = references.map(_.references.get.parts)
        if (parts.map(_.length).distinct.length > 1) throw contradiction(references.head)
        parts.transpose.map(same => merged(same.distinct.map(manifest.read), references.head))
      } finally manifest.close()
    } catch {
      case e: FileNotFoundException =>
        throw new MissingFile(
          blobs.describe(path),
          s"version ${references.head.identity.version} needs it",
          e
        )
    }

  private def merged(parts: Seq[Layer], of: Footer): Layer = {
    val partitions = parts.flatMap(_.members).distinct.sortBy(_.partition)
    if (partitions.map(_.partition).distinct.length < partitions.length) throw contradiction(of)
    Layer(parts.head.partitions, partitions)
  }

  private def contradiction(of: Footer) = StorePlanner.refused(
    of.identity.operator,
    of.identity.store,
    "its references are of rescales that contradict each other; run the query until its " +
      "partitions have written snapshots (spark.sql.streaming.stateStore.minDeltasForSnapshot " +
      "batches), and then rescale it"
  )
}

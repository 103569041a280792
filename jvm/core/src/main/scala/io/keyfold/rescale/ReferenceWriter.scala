package io.keyfold.rescale

import java.time.Clock

import io.keyfold.format.wire.Codec
import io.keyfold.format.{
  FileKind,
  FileWriter,
  Identity,
  Manifest,
  ManifestPart,
  PlanName,
  References
}
import io.keyfold.io.BlobStore
import io.keyfold.model.{StoreLocation, VersionId}

/** Writes the manifest and the references of a rescale.
  *
  * @param plan
  *   the rescale's
  * @param partitions
  *   the new number of partitions
  * @param writer
  *   program name and version, for the files
  */
final class ReferenceWriter(
    blobs: BlobStore,
    plan: PlanName,
    partitions: Int,
    clock: Clock,
    writer: String
) {
  import ReferenceWriter._

  /** Must be called before the first reference is written.
    *
    * @return
    *   for each store the places of its parts
    */
  def writeManifest(stores: Seq[StorePlan]): Seq[IndexedSeq[ManifestPart]] = {
    val parts = stores.map(_.parts)
    val written = Manifest.write(blobs, plan, parts.flatten).toIndexedSeq
    val firsts = parts.scanLeft(0)(_ + _.length)
    firsts.zip(parts).map { case (first, own) => written.slice(first, first + own.length) }
  }

  /** @param parts
    *   the places of the manifest's parts that the partition needs
    */
  def write(
      store: StorePlan,
      partition: PartitionPlan,
      version: VersionId,
      parts: Seq[ManifestPart]
  ): Unit = {
    blobs.write(pathOf(store, partition, version)) { out =>
      val file = new FileWriter(out, FileKind.Reference, Codec.Zstandard, rowChecksums = false)
      val identity = Identity(
        version,
        store.operator,
        partition.partition,
        store.store,
        partitions,
        store.keyGroups,
        clock.millis(),
        writer
      )
      file.finish(
        identity,
        Nil,
        partition.families,
        references = Some(References(plan.id, parts))
      )
      ()
    }
    ()
  }
}

object ReferenceWriter {

  /** Path of the reference that makes a version of a partition. */
  def pathOf(store: StorePlan, partition: PartitionPlan, version: VersionId): String = {
    val location = StoreLocation(store.operator, partition.partition, store.store)
    s"${location.folder}/${FileKind.Reference.nameOf(version)}"
  }
}

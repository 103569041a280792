package io.keyfold.spark.admin.vacuum

import java.io.FileNotFoundException

import scala.annotation.tailrec
import scala.collection.mutable

import io.keyfold.errors.StoreError
import io.keyfold.format.{Ancestor, FileKind, FileReader}
import io.keyfold.io.BlobStore
import io.keyfold.model.VersionId

/** The versions of one store of one partition that some batches need: their own and their
  * ancestors, as far down as files show them. Reads footers, no blocks.
  *
  * @param blobs
  *   the checkpoint's `state` folder
  * @param folder
  *   the store's, relative to it
  * @param batches
  *   versions of the batches
  */
private[admin] final class NeededVersions(
    blobs: BlobStore,
    folder: String,
    batches: Seq[VersionId]
) {
  private val versions = mutable.Set.empty[VersionId]
  batches.foreach(add)
  private val oldest = versions.iterator.map(_.version).minOption.getOrElse(0L)

  /** Versions older than all known ones may be needed too. */
  def contains(version: VersionId): Boolean =
    versions.contains(version) || version.version < oldest

  @tailrec
  private def add(version: VersionId): Unit = if (versions.add(version)) {
    val lineage = lineageOf(version)
    versions ++= lineage.dropRight(1).map(_.version)
    if (lineage.nonEmpty) add(lineage.last.version)
  }

  private def lineageOf(version: VersionId): Seq[Ancestor] =
    Seq(FileKind.Delta, FileKind.Reference, FileKind.Snapshot).iterator
      .flatMap(footerOf(version, _))
      .nextOption()
      .fold(Seq.empty[Ancestor])(_.lineage)

  private def footerOf(version: VersionId, kind: FileKind) =
    try {
      val file = FileReader.open(blobs, s"$folder/${kind.nameOf(version)}", version, kind)
      try Some(file.footer)
      finally file.close()
    } catch { case _: StoreError | _: FileNotFoundException => None }
}

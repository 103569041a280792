package io.keyfold.spark.admin.vacuum

import scala.collection.mutable

import io.keyfold.format.FileKind
import io.keyfold.model.VersionId
import io.keyfold.store.file.{LineageReader, VersionChain}

/** The versions of one store of one partition that some batches need: their own and their
  * ancestors, as far down as files show them, and those in whose place these are, which show what
  * is below. Reads footers, no blocks.
  *
  * @param batches
  *   versions of the batches
  */
private final class NeededVersions(files: LineageReader, batches: Seq[VersionId]) {
  private val versions = mutable.Set.empty[VersionId]
  batches.foreach(add)
  private val oldest = versions.iterator.map(_.version).minOption.getOrElse(0L)

  /** Versions older than all known ones may be needed too. */
  def contains(version: VersionId): Boolean =
    versions.contains(version) || version.version < oldest

  /** Stops at a snapshot or merged delta whose ancestors are known. */
  private def add(batch: VersionId): Unit = if (versions.add(batch)) {
    VersionChain
      .ancestry(files.lineageOf(batch))(it => files.lineageOf(it.version))
      .drop(1)
      .takeWhile(it => versions.add(it.version) || it.kind == FileKind.Delta)
      .foreach(it => addOriginal(it.version))
    addOriginal(batch)
  }

  private def addOriginal(version: VersionId): Unit =
    if (version.original != version) add(version.original)
}

package io.keyfold.rescale

import scala.annotation.tailrec

import io.keyfold.errors.{MissingFile, RescaleRefused}
import io.keyfold.format._
import io.keyfold.group.Selection
import io.keyfold.io.BlobStore
import io.keyfold.store.{Placement, StoreLocation}

/** A partition before the rescale: the head of its last version, and which files lead to it.
  * Opening one reads the head's footer, and no block.
  *
  * @param partitions
  *   N, which the head must agree with
  * @throws io.keyfold.errors.StoreError
  *   if the version is not there, or not this partition's
  */
private[rescale] final class OldPartition(
    blobs: BlobStore,
    val location: StoreLocation,
    partitions: Int,
    version: VersionId
) {
  private val lengths = blobs.lengths(location.folder)
  private val head: Ancestor = Seq(FileKind.Delta, FileKind.Reference, FileKind.Snapshot)
    .find(has(version, _))
    .map(Ancestor(version, _))
    .getOrElse(throw missing(version, FileKind.Delta))

  val footer: Footer = footerOf(version, head.kind)
  check()

  /** Path of the version's head, which tells that and how the version was committed. */
  def headPath: String = path(version, head.kind)

  /** Whether all rows of the store are in this partition, whatever N is. */
  def isOnly: Boolean =
    footer.families.nonEmpty && footer.families.forall(_.spec.partitionKey == Placement.Constant)

  /** Paths of the references of its versions up to this one. */
  def references: Seq[String] = lengths.keys.toSeq.sorted
    .filter(FileKind.parse(_).exists { case (found, kind) =>
      kind == FileKind.Reference && found.version <= version.version
    })
    .map(name => s"${location.folder}/$name")

  /** The files that together hold the version, in the order they are to be applied, with what is to
    * be taken of them for all rows of this partition: those of the newest snapshot and after it, or
    * those that the reference of an earlier rescale names.
    */
  def chain(own: Selection): List[FileReference] = {
    @tailrec
    def down(
        here: Ancestor,
        older: List[Ancestor],
        newer: List[FileReference]
    ): List[FileReference] =
      if (has(here.version, FileKind.Snapshot)) {
        reference(here.version, FileKind.Snapshot, own) :: newer
      } else if (here.kind == FileKind.Reference) referenced(here.version).toList ++ newer
      else {
        val further =
          if (older.nonEmpty || here.version.version == 1) older else below(here.version)
        val all = reference(here.version, FileKind.Delta, own) :: newer
        if (further.isEmpty) all else down(further.head, further.tail, all)
      }
    down(head, footer.lineage.toList, Nil)
  }

  /** A snapshot that is not there any more is no end: the delta of its version leads on. */
  private def below(version: VersionId): List[Ancestor] =
    if (!has(version, FileKind.Delta)) throw missing(version, FileKind.Snapshot)
    else {
      val lineage = footerOf(version, FileKind.Delta).lineage.toList
      if (lineage.isEmpty) throw missing(version, FileKind.Snapshot)
      lineage
    }

  private def referenced(version: VersionId): Seq[FileReference] =
    (if (version == head.version) footer
     else footerOf(version, FileKind.Reference)).references.get.files

  private def has(version: VersionId, kind: FileKind) = lengths.contains(kind.nameOf(version))

  private def path(version: VersionId, kind: FileKind) =
    s"${location.folder}/${kind.nameOf(version)}"

  private def reference(version: VersionId, kind: FileKind, taken: Selection) = FileReference(
    path(version, kind),
    kind,
    version,
    lengths.getOrElse(kind.nameOf(version), throw missing(version, kind)),
    taken
  )

  private def footerOf(version: VersionId, kind: FileKind): Footer = {
    val file = FileReader.open(blobs, path(version, kind), version, kind)
    try file.footer
    finally file.close()
  }

  private def missing(version: VersionId, kind: FileKind) = new MissingFile(
    blobs.describe(path(version, kind)),
    s"$location version ${this.version} needs it"
  )

  private def check(): Unit = {
    val found = footer.identity
    if (StoreLocation(found.operator, found.partition, found.store) != location) {
      throw refused(
        s"it belongs to operator ${found.operator} partition ${found.partition} store ${found.store}"
      )
    }
    if (found.partitions != partitions) {
      throw refused(
        s"it was written for ${found.partitions} partitions, the offset log says $partitions"
      )
    }
  }

  private def refused(detail: String) = new RescaleRefused(
    "KEYFOLD_RESCALE_STATE",
    s"Cannot rescale $location: ${blobs.describe(path(version, head.kind))} does not fit: $detail"
  )
}

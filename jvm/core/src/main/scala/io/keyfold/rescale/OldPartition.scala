package io.keyfold.rescale

import io.keyfold.errors.{CorruptFile, MissingFile, RescaleRefused, StoreError}
import io.keyfold.format.{Ancestor, FileKind, FileReference, Footer}
import io.keyfold.io.BlobStore
import io.keyfold.model.{PartitionRule, StoreLocation, VersionId}
import io.keyfold.store.file.{LineageReader, Listing, VersionChain}
import org.slf4j.LoggerFactory

/** A partition before the rescale: the head of its last version, and the files it needs. Reads
  * footers, never blocks.
  *
  * @param partitions
  *   N, which the head must agree with
  * @throws io.keyfold.errors.StoreError
  *   if the version does not exist or belongs to another partition
  */
private[rescale] final class OldPartition(
    blobs: BlobStore,
    val location: StoreLocation,
    partitions: Int,
    version: VersionId
) {
  import OldPartition.log

  private val listed = blobs.files(location.folder)
  private val listing = Listing.of(listed)
  private val files = new LineageReader(blobs, location)
  private val head = files.head(version, listing)

  if (footer.identity.partitions != partitions) {
    throw new RescaleRefused(
      "KEYFOLD_RESCALE_STATE",
      s"Cannot rescale $location: ${files.describe(version, head.kind)} was written for " +
        s"${footer.identity.partitions} partitions, the offset log says $partitions"
    )
  }

  def footer: Footer = head.footer

  /** Path of the version's head, which shows that and how the version was committed. */
  def headPath: String = files.path(version, head.kind)

  /** Whether this partition has all rows of the store, for any N. */
  def isOnly: Boolean =
    footer.families.nonEmpty && footer.families.forall(
      _.spec.partitionKey == PartitionRule.Constant
    )

  /** Paths of the references that a chain of this version may need: of its versions, or below it.
    */
  def references(of: OldPartition.Chain): Seq[String] = listed.keys.toSeq.sorted
    .filter(FileKind.parse(_).exists { case (found, kind) =>
      kind == FileKind.Reference && found.version >= of.oldest && found.version <= version.version
    })
    .map(name => s"${location.folder}/$name")

  /** The files that together hold the version: the newest usable snapshot, or the reference of an
    * earlier rescale, and the merged deltas and deltas after it.
    *
    * @throws io.keyfold.errors.StoreError
    *   if a file is missing, or the snapshot cannot be used and nothing replaces it
    */
  def chain: OldPartition.Chain = {
    val found =
      VersionChain.of(head.lineage, Tiers).getOrElse(throw noOtherWay(lost.getOrElse(version)))
    val changes = found.changes.map(it => reference(it.version, it.kind))
    found.start match {
      case Some(Ancestor(version, FileKind.Reference)) => onTopOf(version, changes)
      case start                                       =>
        OldPartition.Chain(None, start.map(it => reference(it.version, it.kind)) ++: changes)
    }
  }

  private object Tiers extends VersionChain.Tiers {
    override def hasSnapshot(here: Ancestor): Boolean = isUsable(here.version)

    override def merged(here: Ancestor): Seq[FileKind] =
      listing.merged(here).filter(isReadable(here.version, _))

    override def lineageIn(merged: Ancestor): List[Ancestor] = files.lineageIn(merged, listing)

    /** One that was deleted does not end the lineage: the files that it was made of continue it. */
    override def lineageBelow(here: Ancestor): List[Ancestor] = {
      val found = files.headIfThere(here.version, listing).filter(_.kind != FileKind.Snapshot)
      if (found.isEmpty) lost = Some(here.version)
      found.fold(List.empty[Ancestor])(_.lineage)
    }
  }

  private def noOtherWay(tier: VersionId) =
    unusable.getOrElse(
      new MissingFile(
        files.describe(tier, FileKind.Snapshot),
        s"$location version $version needs it"
      )
    )

  /** A version that a chain needs, and that no file gives. */
  private var lost: Option[VersionId] = None

  /** Why an existing snapshot or merged delta is not used. */
  private var unusable: Option[StoreError] = None

  /** Whether there is a snapshot that counts, with the expected footer. */
  private def isUsable(version: VersionId): Boolean =
    hasSnapshot(version) && isReadable(version, FileKind.Snapshot)

  private def isReadable(version: VersionId, kind: FileKind): Boolean =
    try {
      val found = files.read(version, kind, listing).footer
      if (layout(found) == layout(footer) && files.counts(version, found, listing)) true
      else {
        throw new CorruptFile(
          files.describe(version, kind),
          "it is not of this version of the partition"
        )
      }
    } catch {
      case e: StoreError =>
        log.warn(s"Using older files of $location, not this one: ${e.getMessage}")
        unusable = unusable.orElse(Some(e))
        false
    }

  private def hasSnapshot(version: VersionId) = files.hasSnapshot(version, listing) ||
    version == head.version && head.kind == FileKind.Snapshot

  private def layout(footer: Footer) = (footer.identity.partitions, footer.identity.keyGroups)

  private def onTopOf(version: VersionId, newer: List[FileReference]): OldPartition.Chain = {
    val base =
      if (version == head.version) footer
      else files.read(version, FileKind.Reference, listing).footer
    OldPartition.Chain(Some(base), newer)
  }

  private def reference(version: VersionId, kind: FileKind) = {
    val length = listing.file(version, kind).fold(files.read(version, kind).file.length)(_.length)
    FileReference(files.path(version, kind), kind, version, length)
  }
}

private[rescale] object OldPartition {
  private val log = LoggerFactory.getLogger(classOf[OldPartition])

  /** @param base
    *   footer of the reference whose manifest lists the layers below the files
    * @param files
    *   in the order to apply them
    */
  final case class Chain(base: Option[Footer], files: List[FileReference]) {

    /** No version below this is needed. */
    def oldest: Long =
      if (base.nonEmpty) 0L else files.map(_.version.version).minOption.getOrElse(0L)
  }
}

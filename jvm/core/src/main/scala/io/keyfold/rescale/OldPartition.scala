package io.keyfold.rescale

import java.io.FileNotFoundException

import io.keyfold.errors.{CorruptFile, MissingFile, RescaleRefused, StoreError}
import io.keyfold.format.{Ancestor, FileKind, FileReader, FileReference, Fingerprint, Footer}
import io.keyfold.io.{BlobStore, ListedFile}
import io.keyfold.model.{PartitionRule, StoreLocation, VersionId}
import io.keyfold.store.file.VersionChain
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
  private val head: Ancestor = VersionChain.HeadKinds
    .find(has(version, _))
    .map(Ancestor(version, _))
    .getOrElse(throw missing(version, FileKind.Delta))

  val footer: Footer = footerOf(version, head.kind)
  check()

  /** Path of the version's head, which shows that and how the version was committed. */
  def headPath: String = path(version, head.kind)

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

  /** The files that together hold the version: the newest usable snapshot and the deltas after it,
    * or the reference of an earlier rescale and the deltas after it.
    *
    * @throws io.keyfold.errors.StoreError
    *   if a file is missing, or the snapshot cannot be used and nothing replaces it
    */
  def chain: OldPartition.Chain = {
    val ancestry = VersionChain.ancestry(head :: footer.lineage.toList)(lineageBelow)
    val found = VersionChain
      .all(ancestry)(it => isUsable(it.version))
      .nextOption()
      .getOrElse(throw noOtherWay(head.version))
    val deltas = found.deltas.map(reference(_, FileKind.Delta))
    found.start match {
      case Some(Ancestor(version, FileKind.Reference)) => onTopOf(version, deltas)
      case start                                       =>
        OldPartition.Chain(None, start.map(it => reference(it.version, it.kind)) ++: deltas)
    }
  }

  /** A deleted snapshot does not end the lineage: the files that it was made of continue it. */
  private def lineageBelow(snapshot: VersionId): List[Ancestor] =
    Seq(FileKind.Delta, FileKind.Reference)
      .find(has(snapshot, _))
      .map(kind => Ancestor(snapshot, kind) :: footerOf(snapshot, kind).lineage.toList)
      .getOrElse(throw noOtherWay(snapshot))

  private def noOtherWay(snapshot: VersionId) =
    unusable.getOrElse(missing(snapshot, FileKind.Snapshot))

  /** Why an existing snapshot is not used. */
  private var unusable: Option[StoreError] = None

  /** Whether there is a snapshot with the expected footer; reads no blocks. */
  private def isUsable(version: VersionId): Boolean = has(version, FileKind.Snapshot) && {
    try {
      val found = footerOf(version, FileKind.Snapshot)
      val id = found.identity
      val own =
        footer.identity.copy(version = version, createdMs = id.createdMs, writer = id.writer)
      if (id != own || !found.head.forall(isHead(version, _))) {
        throw new CorruptFile(
          blobs.describe(path(version, FileKind.Snapshot)),
          "it is not of this version of the partition"
        )
      }
      true
    } catch {
      case e: StoreError =>
        log.warn(s"Using older files of $location, not its snapshot: ${e.getMessage}")
        unusable = unusable.orElse(Some(e))
        false
      case _: FileNotFoundException => false
    }
  }

  private def isHead(version: VersionId, file: Fingerprint) =
    file.isOfHead(kind => Option.when(has(version, kind))(open(version, kind)))

  private def onTopOf(version: VersionId, newer: List[FileReference]): OldPartition.Chain = {
    val base = if (version == head.version) footer else footerOf(version, FileKind.Reference)
    OldPartition.Chain(Some(base), newer)
  }

  private def has(version: VersionId, kind: FileKind) = listed.contains(kind.nameOf(version))

  private def path(version: VersionId, kind: FileKind) =
    s"${location.folder}/${kind.nameOf(version)}"

  private def reference(version: VersionId, kind: FileKind) = FileReference(
    path(version, kind),
    kind,
    version,
    listed.getOrElse(kind.nameOf(version), throw missing(version, kind)).length
  )

  private def footerOf(version: VersionId, kind: FileKind): Footer = {
    val file = open(version, kind)
    try file.footer
    finally file.close()
  }

  /** As it was listed, which saves a question; a listing may lag (G6). */
  private def open(version: VersionId, kind: FileKind) = {
    def open(listed: Option[ListedFile]) =
      FileReader.open(blobs, path(version, kind), version, kind, listed = listed)
    val known = listed.get(kind.nameOf(version))
    try open(known)
    catch { case _: FileNotFoundException | _: CorruptFile if known.nonEmpty => open(None) }
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

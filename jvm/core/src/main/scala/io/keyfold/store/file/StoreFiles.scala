package io.keyfold.store.file

import java.io.{FileNotFoundException, IOException}
import java.time.Clock

import io.keyfold.errors.{CorruptFile, MissingFile}
import io.keyfold.format.{
  Ancestor,
  FileKind,
  FileReader,
  FileReference,
  FileWriter,
  Fingerprint,
  Footer,
  Identity,
  PlanName
}
import io.keyfold.group.GroupOrder
import io.keyfold.io.{BlobStore, Interrupts, OnFailure, TailCachedReader}
import io.keyfold.map.{MapTxn, MapView}
import io.keyfold.model.{Family, StoreLocation, VersionId}
import org.slf4j.LoggerFactory

/** The files of one store, by version and kind: what [[LineageReader]] reads, and writing. */
private[store] final class StoreFiles(
    blobs: BlobStore,
    location: StoreLocation,
    settings: StoreSettings,
    clock: Clock,
    newChecksum: () => RowChecksum
) extends LineageReader(
      blobs,
      location,
      if (settings.checksPartitions) settings.partitions else 0
    ) {
  import StoreFiles.log

  /** Whether another store has written the snapshot of this head. */
  def hasSnapshotOf(version: VersionId, head: Fingerprint): Boolean =
    try
      openIfThere(version, FileKind.Snapshot, Listing.Unknown)
        .exists(headOf(version, _).footer.head.contains(head))
    catch { case _: CorruptFile => false }

  /** What one request tells of all files of the store; nothing if it fails. */
  def listing(): Listing =
    try listed()
    catch {
      case e: IOException if !Interrupts.isInterrupt(e) =>
        log.warn(s"Cannot list the files of $location: they are asked for one by one", e)
        Listing.Unknown
    }

  /** The same. Throws IOException if it fails. */
  def listed(): Listing = Listing.of(blobs.files(location.folder))

  /** The files that a reference of this store takes rows from, in the order to apply them.
    *
    * @throws io.keyfold.errors.MissingFile
    *   if the manifest does not exist
    */
  def referenced(reference: Footer): IndexedSeq[ReferencedFile] =
    try ReferencedFile.of(blobs, reference)
    catch {
      case e: FileNotFoundException =>
        throw new MissingFile(
          blobs.describe(PlanName.of(reference).manifest),
          s"$location version ${reference.identity.version} needs it",
          e
        )
    }

  /** A file that a reference of this store takes rows from, usually of another partition.
    *
    * @param by
    *   identity of the reference
    * @throws io.keyfold.errors.MissingFile
    *   if it does not exist
    */
  def openReferenced(reference: FileReference, by: Identity): FileReader =
    try {
      val path = reference.path
      // Each partition that takes a part of the file reads its end, so the read is kept small.
      val tail = (reference.length / 32).max(4096L).min(TailCachedReader.Tail.toLong).toInt
      val file = FileReader.open(blobs, path, reference.version, reference.kind, tail)
      OnFailure(file.close()) {
        val found = file.footer.identity
        val place = StoreLocation(location.operator, found.partition, location.store)
        if (found.operator != location.operator || found.store != location.store) {
          file.fail(
            s"it belongs to operator ${found.operator} store ${found.store}, not to $location"
          )
        }
        if (path != s"${place.folder}/${reference.kind.nameOf(reference.version)}") {
          file.fail(s"it is of partition ${found.partition}")
        }
        if (file.length != reference.length && !reference.mayBeWrittenAgain) {
          file.fail(s"it has ${file.length} bytes, not ${reference.length} as the reference says")
        }
        if (found.keyGroups != by.keyGroups) {
          file.fail(s"it has ${found.keyGroups} key groups, not ${by.keyGroups}")
        }
        if (found.partitions < 1) file.fail("its number of partitions is not known")
      }
      file
    } catch {
      case e: FileNotFoundException =>
        throw new MissingFile(
          blobs.describe(reference.path),
          s"$location version ${by.version} needs it",
          e
        )
    }

  /** Names of all listed files. Only for deleting: a listing may lag. */
  def list(): Seq[String] = blobs.list(location.folder)

  def delete(version: VersionId, kind: FileKind): Unit = delete(kind.nameOf(version))

  def delete(name: String): Unit = blobs.delete(s"${location.folder}/$name")

  /** Writes the net changes of a transaction as the delta of `version`. */
  def writeDelta(
      version: VersionId,
      keyGroups: Int,
      ancestors: Seq[Ancestor],
      rows: MapTxn
  ): Fingerprint =
    writeRows(version, FileKind.Delta, keyGroups, ancestors, rows, rows.dropped)(_.changesOf(rows))

  /** Writes all rows of a view as the snapshot of `version`.
    *
    * @param head
    *   the snapshot is valid only while this is the version's delta or reference
    */
  def writeSnapshot(
      version: VersionId,
      keyGroups: Int,
      ancestors: Seq[Ancestor],
      rows: MapView,
      head: Option[Fingerprint] = None
  ): Fingerprint =
    writeRows(version, FileKind.Snapshot, keyGroups, ancestors, rows, Nil, head)(_.rowsOf(rows))

  private def writeRows(
      version: VersionId,
      kind: FileKind,
      keyGroups: Int,
      ancestors: Seq[Ancestor],
      rows: MapView,
      dropped: Seq[String],
      head: Option[Fingerprint] = None
  )(entries: EntryWriter => Unit): Fingerprint = {
    val rowChecksum = newChecksum()
    write(version, kind) { file =>
      entries(new EntryWriter(file, orderOf(keyGroups), rowChecksum))
      val families = rows.families.map(rowChecksum.withoutChecksums)
      file.finish(identity(version, keyGroups), ancestors, families, dropped, head = head)
    }
  }

  /** Writes a merged delta.
    *
    * @param families
    *   of the version
    * @param entries
    *   adds the entries to the file, key groups in the order of [[orderOf]]
    */
  def writeMerged(
      tier: Ancestor,
      keyGroups: Int,
      ancestors: Seq[Ancestor],
      families: Seq[Family],
      dropped: Seq[String]
  )(entries: FileWriter => Unit): Fingerprint =
    write(tier.version, tier.kind) { file =>
      entries(file)
      file.finish(identity(tier.version, keyGroups), ancestors, families, dropped)
    }

  private def write(version: VersionId, kind: FileKind)(
      body: FileWriter => Fingerprint
  ): Fingerprint = {
    var written: Fingerprint = null
    blobs.write(path(version, kind)) { out =>
      val file = new FileWriter(out, kind, settings.codec, settings.rowChecksums.isDefined)
      written = body(file)
    }
    written
  }

  @volatile private var lastOrder = new GroupOrder(settings.partitions, 1)

  /** Cached: computing it takes longer than writing a small delta. */
  def orderOf(keyGroups: Int): GroupOrder = {
    val last = lastOrder
    if (last.groups == keyGroups) last
    else {
      val order = new GroupOrder(settings.partitions, keyGroups)
      lastOrder = order
      order
    }
  }

  private def identity(version: VersionId, keyGroups: Int): Identity =
    Identity(
      version,
      location.operator,
      location.partition,
      location.store,
      settings.partitions,
      keyGroups,
      clock.millis(),
      settings.writer
    )
}

private[store] object StoreFiles {
  private val log = LoggerFactory.getLogger(classOf[StoreFiles])
}

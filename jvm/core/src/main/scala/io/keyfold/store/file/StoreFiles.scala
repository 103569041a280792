package io.keyfold.store.file

import java.io.{FileNotFoundException, IOException}
import java.time.Clock

import io.keyfold.errors.{CorruptFile, ForeignFile, LayoutMismatch, MissingFile}
import io.keyfold.format.{
  Ancestor,
  FileKind,
  FileReader,
  FileReference,
  FileWriter,
  Fingerprint,
  Footer,
  Identity,
  Manifest
}
import io.keyfold.group.GroupOrder
import io.keyfold.io.{BlobStore, Interrupts, TailCachedReader}
import io.keyfold.map.{MapTxn, MapView}
import io.keyfold.model.{StoreLocation, VersionId}
import org.slf4j.LoggerFactory

/** The files of one store, by version and kind. Checks that a file belongs to this store. */
private[store] final class StoreFiles(
    blobs: BlobStore,
    location: StoreLocation,
    settings: StoreSettings,
    clock: Clock,
    newChecksum: () => RowChecksum
) {
  import StoreFiles.log

  def path(version: VersionId, kind: FileKind): String =
    s"${location.folder}/${kind.nameOf(version)}"

  def describe(version: VersionId, kind: FileKind): String = describe(kind.nameOf(version))

  def describe(name: String): String = blobs.describe(s"${location.folder}/$name")

  def hasSnapshot(version: VersionId, listing: Listing = Listing.Unknown): Boolean =
    listing.has(version, FileKind.Snapshot)(blobs.exists(path(version, FileKind.Snapshot)))

  /** Whether another store has written the snapshot of this head. */
  def hasSnapshotOf(version: VersionId, head: Fingerprint): Boolean =
    try
      openIfThere(version, FileKind.Snapshot, Listing.Unknown).exists { file =>
        try file.footer.head.contains(head)
        finally file.close()
      }
    catch { case _: CorruptFile => false }

  /** What one request tells of all files of the store; nothing if it fails. */
  def listing(): Listing =
    try Listing.of(blobs.files(location.folder))
    catch {
      case e: IOException if !Interrupts.isInterrupt(e) =>
        log.warn(s"Cannot list the files of $location: they are asked for one by one", e)
        Listing.Unknown
    }

  /** Whether a snapshot made from `file` is valid: `file` must be the head of the version. */
  def isHead(version: VersionId, file: Fingerprint): Boolean =
    file.isOfHead(openIfThere(version, _, Listing.Unknown))

  /** @throws io.keyfold.errors.MissingFile if there is no such file */
  def open(version: VersionId, kind: FileKind, listing: Listing = Listing.Unknown): FileReader =
    openIfThere(version, kind, listing).getOrElse(
      throw new MissingFile(describe(version, kind), s"$location version $version needs it")
    )

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
          blobs.describe(Manifest.pathOf(reference)),
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
      closing(FileReader.open(blobs, path, reference.version, reference.kind, tail)) { file =>
        val found = file.footer.identity
        val place = StoreLocation(location.operator, found.partition, location.store)
        def fail(detail: String) = throw new CorruptFile(file.path, detail)
        if (found.operator != location.operator || found.store != location.store) {
          fail(s"it belongs to operator ${found.operator} store ${found.store}, not to $location")
        }
        if (path != s"${place.folder}/${reference.kind.nameOf(reference.version)}") {
          fail(s"it is of partition ${found.partition}")
        }
        if (file.length != reference.length && !reference.mayBeWrittenAgain) {
          fail(s"it has ${file.length} bytes, not ${reference.length} as the reference says")
        }
        if (found.keyGroups != by.keyGroups) {
          fail(s"it has ${found.keyGroups} key groups, not ${by.keyGroups}")
        }
        if (found.partitions < 1) fail("its number of partitions is not known")
      }
    } catch {
      case e: FileNotFoundException =>
        throw new MissingFile(
          blobs.describe(reference.path),
          s"$location version ${by.version} needs it",
          e
        )
    }

  /** The head of a version: delta, reference or snapshot, in this order. A damaged one is skipped
    * if another gives the same version.
    *
    * @throws io.keyfold.errors.MissingFile
    *   if there is none
    * @throws io.keyfold.errors.CorruptFile
    *   if all of them are damaged
    * @throws io.keyfold.errors.ForeignFile
    *   if there are files of another provider instead
    */
  def head(version: VersionId, listing: Listing = Listing.Unknown): FileReader = {
    var damaged: Option[CorruptFile] = None
    VersionChain.HeadKinds.iterator
      .flatMap { kind =>
        try openIfThere(version, kind, listing)
        catch {
          case e: CorruptFile =>
            damaged = damaged.orElse(Some(e))
            None
        }
      }
      .nextOption()
      .getOrElse {
        damaged.foreach(e => throw e)
        foreign(version)
        throw new MissingFile(
          describe(version, FileKind.Delta),
          s"$location version $version does not exist or was deleted.${attemptsOf(version)}"
        )
      }
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
    write(version, FileKind.Delta, keyGroups, ancestors, rows, rows.dropped)(_.changesOf(rows))

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
    write(version, FileKind.Snapshot, keyGroups, ancestors, rows, Nil, head)(_.rowsOf(rows))

  private def write(
      version: VersionId,
      kind: FileKind,
      keyGroups: Int,
      ancestors: Seq[Ancestor],
      rows: MapView,
      dropped: Seq[String],
      head: Option[Fingerprint] = None
  )(entries: EntryWriter => Unit): Fingerprint = {
    var written: Fingerprint = null
    blobs.write(path(version, kind)) { out =>
      val file = new FileWriter(out, kind, settings.codec, settings.rowChecksums.isDefined)
      val rowChecksum = newChecksum()
      entries(new EntryWriter(file, orderOf(keyGroups), rowChecksum))
      val families = rows.families.map(rowChecksum.withoutChecksums)
      written = file.finish(identity(version, keyGroups), ancestors, families, dropped, head = head)
    }
    written
  }

  @volatile private var lastOrder = new GroupOrder(settings.partitions, 1)

  /** Cached: computing it takes longer than writing a small delta. */
  private def orderOf(keyGroups: Int): GroupOrder = {
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

  private def openIfThere(
      version: VersionId,
      kind: FileKind,
      listing: Listing
  ): Option[FileReader] = {
    val listed = listing.file(version, kind)
    def open = FileReader.open(blobs, path(version, kind), version, kind, listed = listed)
    try Some(closing(open)(check))
    catch {
      case _: FileNotFoundException if listed.isEmpty                    => None
      case _: FileNotFoundException | _: CorruptFile if listed.isDefined =>
        // The listing lags (G6): the file was replaced or deleted since.
        openIfThere(version, kind, Listing.Unknown)
    }
  }

  /** Closes the file if it fails the check. */
  private def closing(file: FileReader)(check: FileReader => Unit): FileReader =
    try {
      check(file)
      file
    } catch {
      case e: Throwable =>
        file.close()
        throw e
    }

  private def check(file: FileReader): Unit = {
    val found = file.footer.identity
    if (StoreLocation(found.operator, found.partition, found.store) != location) {
      throw new CorruptFile(
        file.path,
        s"it belongs to operator ${found.operator} partition ${found.partition} " +
          s"store ${found.store}, not to $location"
      )
    }
    val partitions = if (settings.checksPartitions) settings.partitions else 0
    if (partitions > 0 && found.partitions > 0 && found.partitions != partitions) {
      throw new LayoutMismatch(
        "KEYFOLD_PARTITIONS_MISMATCH",
        s"Cannot load $location: ${file.path} was written for ${found.partitions} partitions, the " +
          s"query runs with $partitions. A change of the number of partitions was not finished, or " +
          "the checkpoint's offset log was edited: finish or undo the rescale, or restore the log."
      )
    }
  }

  /** Explains that files of the version, or of one that it may have the rows of, exist under ids,
    * though it was asked for without one.
    */
  private def attemptsOf(version: VersionId): String = {
    val (others, own) =
      list()
        .flatMap(FileKind.parse)
        .map(_._1)
        .filter(_.version <= version.version)
        .partition(_.id.nonEmpty)
    val newest = others.map(_.version).maxOption.filter(it => own.forall(_.version <= it))
    if (version.id.nonEmpty || newest.isEmpty) ""
    else {
      val ids = others.filter(newest contains _.version).map(_.id).distinct.sorted.mkString(", ")
      s" Files of version ${newest.get} exist with ids ($ids): the query has run with " +
        "spark.sql.streaming.stateStore.checkpointFormatVersion=2, which must stay set."
    }
  }

  /** RocksDB's file names differ from ours; HDFSBacked's deltas fail the check of the magic bytes.
    */
  private def foreign(version: VersionId): Unit =
    for (ending <- Seq("zip", "changelog")) {
      val other = s"${location.folder}/$version.$ending"
      if (blobs.exists(other)) {
        throw new ForeignFile(blobs.describe(other), "RocksDBStateStoreProvider uses such names")
      }
    }
}

private[store] object StoreFiles {
  private val log = LoggerFactory.getLogger(classOf[StoreFiles])
}

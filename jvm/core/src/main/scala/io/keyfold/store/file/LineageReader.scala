package io.keyfold.store.file

import java.io.FileNotFoundException

import io.keyfold.errors.{CorruptFile, ForeignFile, LayoutMismatch, MissingFile, StoreError}
import io.keyfold.format.{Ancestor, FileKind, FileReader, Fingerprint, Footer}
import io.keyfold.io.{BlobStore, OnFailure}
import io.keyfold.model.{StoreLocation, VersionId}
import org.slf4j.LoggerFactory

/** Reads how the versions of one store build on each other: the head of a version, and the lineage
  * in its footer. Loads, retention, rescales and vacuum all ask here. Reads footers, never blocks,
  * and checks that a file belongs to this store.
  *
  * @param partitions
  *   N that the files must have been written for; 0: any
  */
private[keyfold] class LineageReader(
    blobs: BlobStore,
    location: StoreLocation,
    partitions: Int = 0
) {
  import LineageReader._

  def path(version: VersionId, kind: FileKind): String =
    s"${location.folder}/${kind.nameOf(version)}"

  def describe(version: VersionId, kind: FileKind): String = describe(kind.nameOf(version))

  def describe(name: String): String = blobs.describe(s"${location.folder}/$name")

  /** The head of a version: delta, reference or snapshot, in this order. A damaged one is skipped
    * if another gives the same version.
    *
    * @return
    *   None if there is no such file
    * @throws io.keyfold.errors.CorruptFile
    *   if all of them are damaged
    */
  def headIfThere(version: VersionId, listing: Listing = Listing.Unknown): Option[Head] = {
    var damaged: Option[CorruptFile] = None
    // Of a version with an id all files have the same rows, so those that are listed come first.
    val kinds =
      if (version.id.isEmpty) VersionChain.HeadKinds
      else VersionChain.HeadKinds.sortBy(listing.file(version, _).isEmpty)
    val found = kinds.iterator
      .flatMap { kind =>
        try openIfThere(version, kind, listing).map(headOf(version, _))
        catch {
          case e: CorruptFile =>
            damaged = damaged.orElse(Some(e))
            None
        }
      }
      .nextOption()
    damaged.foreach { e =>
      if (found.isEmpty) throw e
      log.warn(s"Not using a damaged file of $location version $version: ${e.getMessage}")
    }
    found
  }

  /** A file of a version.
    *
    * @throws io.keyfold.errors.MissingFile
    *   if there is no such file
    */
  def read(version: VersionId, kind: FileKind, listing: Listing = Listing.Unknown): Head =
    headOf(version, open(version, kind, listing))

  protected def headOf(version: VersionId, file: FileReader): Head =
    try Head(version, file.kind, file.footer, file.fingerprint)
    finally file.close()

  /** The same for a version that must be there.
    *
    * @throws io.keyfold.errors.MissingFile
    *   if there is no such file
    * @throws io.keyfold.errors.ForeignFile
    *   if there are files of another provider instead
    */
  def head(version: VersionId, listing: Listing = Listing.Unknown): Head =
    headIfThere(version, listing).getOrElse {
      foreign(version)
      throw new MissingFile(
        describe(version, FileKind.Delta),
        s"$location version $version does not exist or was deleted.${attemptsOf(version)}"
      )
    }

  /** A version and those that its head builds on; Nil if it has no head that can be read. */
  def lineageOf(version: VersionId): List[Ancestor] =
    try headIfThere(version).fold(List.empty[Ancestor])(_.lineage)
    catch { case _: StoreError => Nil }

  /** A version and those that a file of it builds on; Nil if the file cannot be read, or is not of
    * the version's head.
    */
  def lineageIn(file: Ancestor, listing: Listing = Listing.Unknown): List[Ancestor] =
    try {
      val found = read(file.version, file.kind, listing)
      if (counts(file.version, found.footer, listing)) found.lineage else Nil
    } catch {
      case e: StoreError =>
        log.warn(s"Not using a file of $location version ${file.version}: ${e.getMessage}")
        Nil
    }

  /** Whether a file of a version is still of its head: docs/FORMAT.md, rule R8. */
  def counts(version: VersionId, footer: Footer, listing: Listing = Listing.Unknown): Boolean =
    footer.head.forall(isHead(version, _, listing))

  /** Whether the delta or reference of a version is the one with this fingerprint. A damaged one,
    * or none, proves nothing.
    */
  def isHead(
      version: VersionId,
      file: Fingerprint,
      listing: Listing = Listing.Unknown
  ): Boolean =
    try
      Iterator(FileKind.Delta, FileKind.Reference)
        .flatMap(openIfThere(version, _, listing))
        .nextOption()
        .forall(headOf(version, _).file == file)
    catch { case _: CorruptFile => true }

  def hasSnapshot(version: VersionId, listing: Listing = Listing.Unknown): Boolean =
    listing.has(version, FileKind.Snapshot)(blobs.exists(path(version, FileKind.Snapshot)))

  /** @throws io.keyfold.errors.MissingFile if there is no such file */
  def open(version: VersionId, kind: FileKind, listing: Listing = Listing.Unknown): FileReader =
    openIfThere(version, kind, listing).getOrElse(
      throw new MissingFile(describe(version, kind), s"$location version $version needs it")
    )

  protected def openIfThere(
      version: VersionId,
      kind: FileKind,
      listing: Listing
  ): Option[FileReader] = {
    val listed = listing.file(version, kind)
    def open = FileReader.open(blobs, path(version, kind), version, kind, listed = listed)
    try {
      val file = open
      OnFailure(file.close())(check(file))
      Some(file)
    } catch {
      case _: FileNotFoundException if listed.isEmpty                    => None
      case _: FileNotFoundException | _: CorruptFile if listed.isDefined =>
        // The listing lags (G6): the file was replaced or deleted since.
        openIfThere(version, kind, Listing.Unknown)
    }
  }

  private def check(file: FileReader): Unit = {
    val found = file.footer.identity
    if (StoreLocation(found.operator, found.partition, found.store) != location) {
      file.fail(
        s"it belongs to operator ${found.operator} partition ${found.partition} " +
          s"store ${found.store}, not to $location"
      )
    }
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
    val (others, own) = blobs
      .list(location.folder)
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

private[keyfold] object LineageReader {
  private val log = LoggerFactory.getLogger(classOf[LineageReader])

  /** A file of a version, without its blocks. */
  final case class Head(version: VersionId, kind: FileKind, footer: Footer, file: Fingerprint) {

    /** The version and those that it builds on, newest first, down to the newest snapshot that was
      * known when it was written.
      */
    def lineage: List[Ancestor] = Ancestor(version, kind) :: footer.lineage.toList

    /** The version's delta or reference: this file, or the one that its snapshot was made of. */
    def madeOf: Option[Fingerprint] = if (kind == FileKind.Snapshot) footer.head else Some(file)
  }
}

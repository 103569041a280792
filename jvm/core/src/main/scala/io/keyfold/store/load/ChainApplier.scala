package io.keyfold.store.load

import java.io.IOException

import io.keyfold.errors.{
  CorruptFile,
  LocalFileFailed,
  LayoutMismatch,
  MissingFile,
  OutOfMemory,
  StoreError,
  UnreadableVersion
}
import io.keyfold.format.{Ancestor, FileKind, FileReader, Footer}
import io.keyfold.io.Interrupts
import io.keyfold.map.{MapTxn, StateMap}
import io.keyfold.model.{Family, FamilySpec, StoreLocation, VersionId}
import io.keyfold.store.file.{Lineage, Listing, RowChecksum, StoreFiles, VersionChain}
import org.slf4j.LoggerFactory

/** Builds a version in a map from the files of a chain.
  *
  * @param listing
  *   of the store's files
  * @param head
  *   footer of the version's head: all files must have its number of key groups
  * @param lazyFromBytes
  *   length of the first file from which on rows are put when they are asked for, see [[LazyChain]]
  * @param onLazyFailure
  *   called if they cannot be put then
  */
private[store] final class ChainApplier(
    files: StoreFiles,
    listing: Listing,
    location: StoreLocation,
    target: VersionId,
    head: Footer,
    map: StateMap,
    rowChecksum: RowChecksum,
    lazyFromBytes: Long,
    onLazyFailure: () => Unit
) {
  import ChainApplier._

  /** Commits the version in the map.
    *
    * @return
    *   its lineage, or which file cannot be used; the map has not changed then
    */
  def applyAll(chain: VersionChain): Either[Unusable, Lineage] = {
    val (references, snapshot) = chain.start.toList.partition(_.kind == FileKind.Reference)
    val steps = snapshot ++ chain.changes
    val isLazy = references.isEmpty && steps.size <= MostLazyFiles &&
      steps.headOption.flatMap(it => listing.file(it.version, it.kind)).exists {
        _.length >= lazyFromBytes
      } && !head.families.exists(_.spec.ordered)
    (if (isLazy) copyAll(steps) else None).getOrElse(putAll(references, steps))
  }

  private def putAll(references: List[Ancestor], steps: List[Ancestor]) = {
    var txn = map.begin(VersionId.Empty)
    try {
      for (it <- references) applyReference(txn, it.version) {
        // What was put is freed: a family that is dropped stays until its transaction ends.
        txn.release()
        txn = map.begin(VersionId.Empty)
        txn
      }
      val made = readAll(steps, Lineage(references)) { file =>
        val families = familiesIn(txn, file)(_ => ())
        new EntryApplier(families, file, EntryFilter.All, 0, location.partition, rowChecksum)
          .applyAll(txn)
      }
      if (made.isRight) txn.commit(target)
      made
    } finally txn.release()
  }

  /** Copies the files, and leaves their rows for later.
    *
    * @return
    *   None if that is not possible
    */
  private def copyAll(steps: List[Ancestor]): Option[Either[Unusable, Lineage]] =
    map.newLocalBytes().flatMap { local =>
      val txn = map.begin(VersionId.Empty)
      val rows =
        new LazyChain(
          local,
          s"$location version $target",
          location.partition,
          rowChecksum,
          onLazyFailure
        )
      var newest: Footer = null
      var isLeft = false
      try {
        val made = readAll(steps, Lineage.Empty) { file =>
          rows.add(file, familiesIn(txn, file)(rows.dropFamily))
          newest = file.footer
        }
        if (made.isLeft) Some(made)
        else
          sizesOf(txn.families, newest).map { sizes =>
            txn.putLater(rows, sizes)
            isLeft = true
            txn.commit(target)
            made
          }
      } catch {
        case e: OutOfMemory =>
          log.info(s"Putting all rows of $location version $target at once: ${e.getMessage}")
          None
      } finally {
        if (!isLeft) rows.close()
        txn.release()
      }
    }

  /** Sizes of families by the footer of the newest file, which another attempt at the version may
    * have written than the head that was read.
    *
    * @return
    *   None if their rows cannot be left for later
    */
  private def sizesOf(families: IndexedSeq[Family], newest: Footer): Option[IndexedSeq[Family]] = {
    val found = families.flatMap(it => newest.families.find(_.spec.name == it.spec.name))
    val areKnown = found.size == families.size && !families.exists(_.spec.ordered) &&
      found.forall(it => it.keys >= 0 && it.values >= 0 && it.bytes >= 0)
    Option.when(areKnown)(found.map(rowChecksum.withChecksums))
  }

  /** Calls `use` for each file, open. */
  private def readAll(steps: List[Ancestor], start: Lineage)(
      use: FileReader => Unit
  ): Either[Unusable, Lineage] = {
    val opened = new OpenedAhead(steps.map { it => () =>
      files.open(it.version, it.kind, listing)
    })
    try {
      val left = steps.iterator
      var made: Either[Unusable, Lineage] = Right(start)
      while (left.hasNext && made.isRight) {
        made = made.flatMap(readStep(_, left.next(), opened)(use))
      }
      made
    } finally opened.close()
  }

  /** In the place of a snapshot or a merged delta other files may give the same, but not of a
    * delta.
    */
  private def readStep(below: Lineage, step: Ancestor, opened: OpenedAhead)(
      use: FileReader => Unit
  ): Either[Unusable, Lineage] =
    try {
      val file = opened.next()
      try
        if (!files.counts(step.version, file.footer)) Left(Unusable.Replaced(step))
        else {
          checkKeyGroups(file)
          use(file)
          Right(below.grown(step, file.fingerprint, Lineage.rowsOf(file.footer.families)))
        }
      finally file.close()
    } catch {
      case e @ (_: CorruptFile | _: MissingFile) if step.kind == FileKind.Delta =>
        val readable = below.elements.headOption.fold(VersionId.Empty)(_.version)
        val error = new UnreadableVersion(
          s"Cannot load $location version $target: ${e.getMessage} The newest version before it " +
            s"that can be read is ${readable.version} (the state after batch " +
            s"${readable.version - 1}).",
          e
        )
        Left(Unusable.Damaged(step, error))
      // Running out of memory says nothing about the file, nor does the local disk.
      case e @ (_: OutOfMemory | _: LocalFileFailed)                           => throw e
      case e: IOException if Interrupts.isInterrupt(e)                         => throw e
      case e @ (_: StoreError | _: IOException) if step.kind != FileKind.Delta =>
        Left(Unusable.Damaged(step, e))
    }

  /** @param another
    *   ends the transaction and begins another
    */
  private def applyReference(txn: MapTxn, version: VersionId)(another: => MapTxn): Unit =
    try {
      val file = files.open(version, FileKind.Reference)
      val footer =
        try file.footer
        finally file.close()
      checkKeyGroups(file)
      val partitions = footer.identity.partitions
      def applier(txn: MapTxn) =
        new ReferenceApplier(txn, files, footer, partitions, location.partition, rowChecksum)
      var reference = applier(txn)
      if (!reference.applyAll(None)) {
        val drops = reference.findDrops()
        reference = applier(another)
        reference.applyAll(Some(drops))
      }
      log.info(
        s"Loaded $location version $version from ${reference.fileCount} files that were written " +
          s"before a rescale; read ${reference.blockBytes} bytes of their blocks"
      )
    } catch {
      case e @ (_: CorruptFile | _: MissingFile) =>
        throw new UnreadableVersion(
          s"Cannot load $location version $target: ${e.getMessage} After a rescale version " +
            s"$version consists of such files, and has no others. Restore the file, or go back " +
            s"to a batch before ${version.version - 1}.",
          e
        )
    }

  /** Drops the families that a file drops, and makes those that it has.
    *
    * @param onDrop
    *   called with the index of each that is dropped
    * @return
    *   for each of the file's families its index in the transaction
    */
  private def familiesIn(txn: MapTxn, file: FileReader)(onDrop: Int => Unit): Array[Int] = {
    for (index <- file.footer.dropped.iterator.map(txn.familyIndex) if index >= 0) {
      txn.dropFamily(index)
      onDrop(index)
    }
    file.footer.families.map(f => familyIn(txn, file, f.spec)).toArray
  }

  private def checkKeyGroups(file: FileReader): Unit = {
    val found = file.footer.identity.keyGroups
    val keyGroups = head.identity.keyGroups
    if (found != keyGroups) {
      throw new LayoutMismatch(
        "KEYFOLD_KEY_GROUPS_MISMATCH",
        s"Cannot load $location version $target: ${file.path} has $found key groups, the head of " +
          s"the version has $keyGroups. The files do not belong together; restore the checkpoint " +
          "from one consistent copy."
      )
    }
  }

  /** A family whose layout changed was dropped in between, and a file must record that drop. */
  private def familyIn(txn: MapTxn, file: FileReader, spec: FamilySpec): Int = {
    val index = txn.familyIndex(spec.name)
    if (index < 0) txn.createFamily(spec)
    else if (txn.families(index).spec.isKeptAs(spec)) {
      if (spec.strays) txn.markStrays(index)
      index
    } else
      file.fail(s"its column family ${spec.name} has other encodings than in the files before it")
  }
}

private[store] object ChainApplier {
  private val log = LoggerFactory.getLogger(classOf[ChainApplier])

  /** Each takes memory as long as its rows have not come. */
  private val MostLazyFiles = 64

  /** Why a file of a chain cannot be used. */
  sealed trait Unusable
  object Unusable {

    /** It is missing, or cannot be read. */
    final case class Damaged(file: Ancestor, cause: Throwable) extends Unusable

    /** It belongs to a replaced version of that name: docs/FORMAT.md, rule R8. */
    final case class Replaced(file: Ancestor) extends Unusable
  }
}

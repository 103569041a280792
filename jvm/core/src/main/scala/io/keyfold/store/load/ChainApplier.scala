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
import io.keyfold.format.{Ancestor, FileKind, FileReader}
import io.keyfold.map.{MapTxn, StateMap}
import io.keyfold.model.{FamilySpec, StoreLocation, VersionId}
import io.keyfold.store.file.{Lineage, Listing, RowChecksum, StoreFiles, VersionChain}
import org.slf4j.LoggerFactory

/** Builds a version in a map from the files of a chain.
  *
  * @param listing
  *   of the store's files
  * @param keyGroups
  *   G of the version's head, which all files must have
  */
private[store] final class ChainApplier(
    files: StoreFiles,
    listing: Listing,
    location: StoreLocation,
    target: VersionId,
    keyGroups: Int,
    map: StateMap,
    rowChecksum: RowChecksum
) {
  import ChainApplier._

  /** Commits the version in the map.
    *
    * @return
    *   its lineage, or which file cannot be used; the map has not changed then
    */
  def applyAll(chain: VersionChain): Either[Unusable, Lineage] = {
    var txn = map.begin(VersionId.Empty)
    val (references, snapshot) = chain.start.toList.partition(_.kind == FileKind.Reference)
    val steps = snapshot ++ chain.changes
    val opened = new OpenedAhead(steps.map { it => () =>
      files.open(it.version, it.kind, listing)
    })
    try {
      for (it <- references) applyReference(txn, it.version) {
        // What was put is freed: a family that is dropped stays until its transaction ends.
        txn.release()
        txn = map.begin(VersionId.Empty)
        txn
      }
      var made: Either[Unusable, Lineage] = Right(Lineage(references))
      val left = steps.iterator
      while (left.hasNext && made.isRight) {
        made = made.flatMap(applyStep(txn, _, left.next(), opened))
      }
      if (made.isRight) txn.commit(target)
      made
    } finally {
      opened.close()
      txn.release()
    }
  }

  private def applyStep(txn: MapTxn, below: Lineage, step: Ancestor, opened: OpenedAhead) =
    if (step.kind == FileKind.Delta) applyDelta(txn, below, step, opened)
    else applyTier(txn, below, step, opened)

  private def grown(below: Lineage, step: Ancestor, file: FileReader) =
    below.grown(step, file.fingerprint, Lineage.rowsOf(file.footer.families))

  /** A snapshot or a merged delta: other files may give the same. */
  private def applyTier(
      txn: MapTxn,
      below: Lineage,
      tier: Ancestor,
      opened: OpenedAhead
  ): Either[Unusable, Lineage] =
    try {
      val file = opened.next()
      try
        if (!files.counts(tier.version, file.footer)) Left(Unusable.Replaced(tier))
        else {
          apply(txn, file)
          Right(grown(below, tier, file))
        }
      finally file.close()
    } catch {
      // Running out of memory says nothing about the file, nor does the local disk.
      case e @ (_: OutOfMemory | _: LocalFileFailed) => throw e
      case e @ (_: StoreError | _: IOException)      => Left(Unusable.Damaged(tier, e))
    }

  private def applyDelta(
      txn: MapTxn,
      below: Lineage,
      delta: Ancestor,
      opened: OpenedAhead
  ): Either[Unusable, Lineage] =
    try {
      val file = opened.next()
      try {
        apply(txn, file)
        Right(grown(below, delta, file))
      } finally file.close()
    } catch {
      case e @ (_: CorruptFile | _: MissingFile) =>
        val readable = below.elements.headOption.fold(VersionId.Empty)(_.version)
        val error = new UnreadableVersion(
          s"Cannot load $location version $target: ${e.getMessage} The newest version before it " +
            s"that can be read is ${readable.version} (the state after batch " +
            s"${readable.version - 1}).",
          e
        )
        Left(Unusable.Damaged(delta, error))
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

  private def apply(txn: MapTxn, file: FileReader): Unit = {
    checkKeyGroups(file)
    file.footer.dropped.foreach { name =>
      val index = txn.familyIndex(name)
      if (index >= 0) txn.dropFamily(index)
    }
    val families = file.footer.families.map(f => familyIn(txn, file, f.spec)).toArray
    new EntryApplier(txn, families, file, EntryFilter.All, 0, location.partition, rowChecksum)
      .applyAll()
  }

  private def checkKeyGroups(file: FileReader): Unit = {
    val found = file.footer.identity.keyGroups
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
    } else {
      throw new CorruptFile(
        file.path,
        s"its column family ${spec.name} has other encodings than in the files before it"
      )
    }
  }
}

private[store] object ChainApplier {
  private val log = LoggerFactory.getLogger(classOf[ChainApplier])

  /** Why a file of a chain cannot be used. */
  sealed trait Unusable
  object Unusable {

    /** It is missing, or cannot be read. */
    final case class Damaged(file: Ancestor, cause: Throwable) extends Unusable

    /** It belongs to a replaced version of that name: docs/FORMAT.md, rule R8. */
    final case class Replaced(file: Ancestor) extends Unusable
  }
}

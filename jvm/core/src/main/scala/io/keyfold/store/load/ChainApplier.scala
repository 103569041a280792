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
import io.keyfold.format.{Ancestor, FileKind, FileReader, Fingerprint}
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
    *   its lineage, or why the snapshot cannot be used; the map has not changed then
    */
  def applyAll(chain: VersionChain): Either[Unusable, Lineage] = {
    var txn = map.begin(VersionId.Empty)
    val snapshot = chain.start.filter(_.kind == FileKind.Snapshot)
    val toOpen = snapshot ++ chain.deltas.map(Ancestor(_, FileKind.Delta))
    val opened = new OpenedAhead(toOpen.toSeq.map { it => () =>
      files.open(it.version, it.kind, listing)
    })
    try {
      snapshot.flatMap(it => applySnapshot(txn, it.version, opened)).toLeft {
        for (it <- chain.start if it.kind == FileKind.Reference) applyReference(txn, it.version) {
          // What was put is freed: a family that is dropped stays until its transaction ends.
          txn.release()
          txn = map.begin(VersionId.Empty)
          txn
        }
        val lineage = chain.deltas.foldLeft(Lineage(chain.start.toList)) { (below, delta) =>
          below.grown(delta, applyDelta(txn, below, opened))
        }
        txn.commit(target)
        lineage
      }
    } finally {
      opened.close()
      txn.release()
    }
  }

  private def applySnapshot(
      txn: MapTxn,
      version: VersionId,
      opened: OpenedAhead
  ): Option[Unusable] =
    try {
      val file = opened.next()
      try
        if (!files.counts(version, file.footer)) Some(Unusable.Replaced)
        else {
          apply(txn, file)
          None
        }
      finally file.close()
    } catch {
      // Running out of memory says nothing about the file, nor does the local disk.
      case e @ (_: OutOfMemory | _: LocalFileFailed) => throw e
      case e @ (_: StoreError | _: IOException)      => Some(Unusable.Damaged(e))
    }

  private def applyDelta(
      txn: MapTxn,
      below: Lineage,
      opened: OpenedAhead
  ): Fingerprint =
    try {
      val file = opened.next()
      try {
        apply(txn, file)
        file.fingerprint
      } finally file.close()
    } catch {
      case e @ (_: CorruptFile | _: MissingFile) =>
        val readable = below.elements.headOption.fold(VersionId.Empty)(_.version)
        throw new UnreadableVersion(
          s"Cannot load $location version $target: ${e.getMessage} The newest version before it " +
            s"that can be read is ${readable.version} (the state after batch " +
            s"${readable.version - 1}).",
          e
        )
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

  /** Why the snapshot of a chain cannot be used. */
  sealed trait Unusable
  object Unusable {

    /** It is missing, or cannot be read. */
    final case class Damaged(cause: Throwable) extends Unusable

    /** It belongs to a replaced version of that name: docs/FORMAT.md, rule R8. */
    case object Replaced extends Unusable
  }
}

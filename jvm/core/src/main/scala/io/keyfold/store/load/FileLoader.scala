package io.keyfold.store.load

import java.io.IOException

import scala.annotation.tailrec
import scala.collection.mutable
import scala.util.control.NonFatal

import io.keyfold.errors.{
  CorruptFile,
  ForeignFile,
  Invalid,
  LayoutMismatch,
  MissingFile,
  OutOfMemory,
  StoreError,
  UnreadableVersion
}
import io.keyfold.format.{Ancestor, FileKind, FileReader}
import io.keyfold.map.{MapTxn, StateMap}
import io.keyfold.model.{FamilySpec, StoreLocation, VersionId}
import io.keyfold.store.file.{Lineage, RowChecksum, StoreCounters, StoreFiles, StoreSettings}
import org.slf4j.LoggerFactory

/** Rebuilds a version from files: the newest usable snapshot of its lineage, or the reference at
  * its end, then the deltas after it.
  *
  * @param newMap
  *   creates the map to fill, given the files' number of key groups
  */
private[store] final class FileLoader(
    files: StoreFiles,
    location: StoreLocation,
    settings: StoreSettings,
    counters: StoreCounters,
    newChecksum: () => RowChecksum,
    newMap: Int => StateMap
) {
  import FileLoader._

  /** Loads a version into a new map and commits it there.
    *
    * @throws io.keyfold.errors.StoreError
    *   if the version cannot be rebuilt
    */
  def load(target: VersionId): LoadedVersions = {
    val (head, keyGroups) = readHead(target)
    fill(head, keyGroups)(_.from(head.head, head.ancestors, Nil))
  }

  /** Rebuilds `end` from exactly the snapshot `start` and the deltas after it, to verify those
    * files.
    *
    * @throws io.keyfold.errors.StoreError
    *   if there is no such snapshot, or a delta cannot be read
    */
  def replay(start: VersionId, end: VersionId): LoadedVersions = {
    val (head, keyGroups) = readHead(end)
    val versions = chain(start.version, end, head.ancestors)
    def none = new UnreadableVersion(
      s"Cannot replay $location version $end from the snapshot of version $start: there is none.",
      null
    )
    if (versions.head != start || !files.hasSnapshot(start)) throw none
    val deltas = versions.tail.map(Ancestor(_, FileKind.Delta))
    try
      fill(head, keyGroups) { attempt =>
        val bottom = Ancestor(start, FileKind.Snapshot)
        attempt.build(Some(bottom), deltas)
        attempt.lineage(bottom, deltas)
      }
    catch {
      case e: BadSnapshot    => throw e.getCause
      case _: OthersSnapshot => throw none
    }
  }

  /** Without ids the head may be replaced meanwhile: the version keeps the head that was read. */
  private def fill(head: Lineage, keyGroups: Int)(build: Attempt => Lineage): LoadedVersions = {
    val target = head.head.version
    val map = newMap(keyGroups)
    try {
      val lineage = build(new Attempt(target, keyGroups, map))
      new LoadedVersions(map, keyGroups, target, lineage.copy(file = head.file))
    } catch {
      case NonFatal(e) =>
        map.close()
        throw e
    }
  }

  /** The versions from number `from` up to `end`, oldest first.
    *
    * @throws io.keyfold.errors.StoreError
    *   if they cannot be found, or a rescale lies between
    */
  def chain(from: Long, end: VersionId): List[VersionId] = {
    val head = readHead(end)._1
    if (head.head.kind == FileKind.Reference) throw endOfChain(from, end, end)
    chain(from, end, head.ancestors)
  }

  private def endOfChain(from: Long, end: VersionId, here: VersionId) = new UnreadableVersion(
    s"Cannot go back from $location version $end to version $from: version $here does not build " +
      "on deltas (the query began there anew, or its partitions were rescaled).",
    null
  )

  /** @param ancestors
    *   of `end`
    */
  private def chain(from: Long, end: VersionId, ancestors: List[Ancestor]): List[VersionId] = {
    @tailrec
    def down(here: VersionId, older: List[Ancestor], newer: List[VersionId]): List[VersionId] =
      if (here.version == from) here :: newer
      else if (older.isEmpty) {
        val below = readHead(here)._1.ancestors
        if (below.isEmpty) throw endOfChain(from, end, here)
        down(here, below, newer)
      } else if (older.head.kind == FileKind.Reference) {
        throw endOfChain(from, end, older.head.version)
      } else down(older.head.version, older.tail, here :: newer)

    if (from < 1 || from > end.version) {
      throw new Invalid(
        "KEYFOLD_INVALID_VERSION",
        s"Invalid version $from of $location: it must be between 1 and ${end.version}"
      )
    }
    down(end, ancestors, Nil)
  }

  /** Number of key groups of a version; None if it has no Keyfold files. */
  def keyGroups(version: VersionId): Option[Int] =
    try Option.when(version != VersionId.Empty)(readHead(version)._2)
    catch { case _: MissingFile | _: ForeignFile => None }

  private def readHead(version: VersionId): (Lineage, Int) =
    try {
      val file = files.head(version)
      try {
        val footer = file.footer
        val elements = Ancestor(version, file.kind) :: footer.lineage.toList
        val of = if (file.kind == FileKind.Snapshot) footer.head else Some(file.fingerprint)
        (Lineage(elements, file = of), footer.identity.keyGroups)
      } finally file.close()
    } catch {
      case e: CorruptFile =>
        throw new UnreadableVersion(
          s"Cannot load $location version $version: ${e.getMessage} The versions before it do not " +
            "need this file.",
          e
        )
    }

  private final class Attempt(target: VersionId, keyGroups: Int, map: StateMap) {
    private val rowChecksum = newChecksum()
    private val deltaBytes = mutable.Map.empty[VersionId, Long]
    private var broken: Option[BadSnapshot] = None

    /** Tries snapshots from the newest down. Below the last listed ancestor, the lineage continues
      * in that version's own head.
      *
      * @param newer
      *   the versions above `here`, oldest first
      */
    @tailrec
    def from(here: Ancestor, older: List[Ancestor], newer: List[Ancestor]): Lineage = {
      val usable = here.kind == FileKind.Snapshot || files.hasSnapshot(here.version)
      if (usable && tryBuild(here.version, newer)) {
        lineage(Ancestor(here.version, FileKind.Snapshot), newer)
      } else if (here.kind == FileKind.Reference) {
        checkRepair(newer.size)
        build(Some(here), newer)
        lineage(here, newer)
      } else if (here.version.version == 1) {
        checkRepair(newer.size + 1)
        build(None, here :: newer)
        lineage(Ancestor(here.version, FileKind.Delta), newer)
      } else if (older.nonEmpty) from(older.head, older.tail, here :: newer)
      else {
        val head = headOfSnapshot(here.version)
        if (head.head.kind == FileKind.Reference) from(head.head, Nil, newer)
        else from(head.ancestors.head, head.ancestors.tail, here :: newer)
      }
    }

    private def headOfSnapshot(snapshot: VersionId): Lineage = {
      val head =
        try readHead(snapshot)._1
        catch {
          case e: MissingFile => throw noOtherWay(snapshot, e)
        }
      val leadsOn = head.head.kind match {
        case FileKind.Delta     => head.ancestors.nonEmpty
        case FileKind.Reference => true
        case FileKind.Snapshot  => false
      }
      if (!leadsOn) throw noOtherWay(snapshot, null)
      head
    }

    private def noOtherWay(snapshot: VersionId, cause: StoreError) =
      new UnreadableVersion(
        s"Cannot load $location version $target: the snapshot of version $snapshot cannot be used " +
          "and there is no older one. Versions after a newer snapshot may still be read.",
        cause
      )

    /** @param newer
      *   the deltas on top of `bottom`, oldest first
      */
    def lineage(bottom: Ancestor, newer: List[Ancestor]): Lineage = {
      Lineage(newer.map(_.copy(kind = FileKind.Delta)).reverse :+ bottom, deltaBytes.toMap)
    }

    /** @return whether the snapshot could be used */
    private def tryBuild(snapshot: VersionId, deltas: List[Ancestor]): Boolean = {
      checkRepair(deltas.size)
      val tries = if (broken.isEmpty) settings.repair.tries else 1
      try
        (1 to tries).exists { n =>
          try {
            build(Some(Ancestor(snapshot, FileKind.Snapshot)), deltas)
            true
          } catch {
            case e: BadSnapshot =>
              log.warn(
                s"Cannot use the snapshot of version $snapshot of $location (try $n of $tries): " +
                  e.getCause.getMessage
              )
              if (n == tries) giveUp(e)
              false
          }
        }
      catch {
        case _: OthersSnapshot =>
          log.warn(
            s"Passing over the snapshot of version $snapshot of $location: it is of a delta that " +
              "has been replaced since, as after a rollback."
          )
          false
      }
    }

    private def giveUp(snapshot: BadSnapshot): Unit = {
      if (!settings.repair.enabled) {
        throw new UnreadableVersion(
          s"Cannot load $location version $target: ${snapshot.getCause.getMessage} An older snapshot " +
            "and more deltas may give the same version: set " +
            "spark.sql.streaming.stateStore.autoSnapshotRepair.enabled=true.",
          snapshot.getCause
        )
      }
      counters.snapshotFallbacks.increment()
      broken = broken.orElse(Some(snapshot))
    }

    /** @param deltas
      *   number of deltas to read on top of an older snapshot
      */
    private def checkRepair(deltas: Int): Unit =
      broken.filter(_ => deltas > settings.repair.maxDeltas).foreach { snapshot =>
        throw new UnreadableVersion(
          s"Cannot load $location version $target: ${snapshot.getCause.getMessage} Without it $deltas " +
            s"deltas would have to be read, more than the ${settings.repair.maxDeltas} that " +
            "spark.sql.streaming.stateStore.autoSnapshotRepair.maxChangeFileReplay allows.",
          snapshot.getCause
        )
      }

    /** @param bottom
      *   snapshot or reference; none: starts empty
      * @param deltas
      *   oldest first
      */
    def build(bottom: Option[Ancestor], deltas: List[Ancestor]): Unit = {
      val txn = map.begin(VersionId.Empty)
      try {
        bottom.foreach {
          case Ancestor(version, FileKind.Reference) => applyReference(txn, version)
          case Ancestor(version, _)                  => applySnapshot(txn, version)
        }
        deltas.foldLeft(bottom.fold(VersionId.Empty)(_.version)) { (readable, delta) =>
          applyDelta(txn, delta.version, readable)
          delta.version
        }
        txn.commit(target)
      } finally txn.release()
    }

    private def applySnapshot(txn: MapTxn, version: VersionId): Unit =
      try apply(txn, version, FileKind.Snapshot)
      catch {
        // Running out of memory says nothing about the file.
        case e: OutOfMemory                       => throw e
        case e @ (_: StoreError | _: IOException) => throw new BadSnapshot(e)
      }

    private def applyDelta(txn: MapTxn, version: VersionId, readable: VersionId): Unit =
      try apply(txn, version, FileKind.Delta)
      catch {
        case e @ (_: CorruptFile | _: MissingFile) =>
          throw new UnreadableVersion(
            s"Cannot load $location version $target: ${e.getMessage} The newest version before it " +
              s"that can be read is ${readable.version} (the state after batch " +
              s"${readable.version - 1}).",
            e
          )
      }

    private def applyReference(txn: MapTxn, version: VersionId): Unit =
      try {
        val file = files.open(version, FileKind.Reference)
        val footer =
          try file.footer
          finally file.close()
        checkKeyGroups(file)
        val partitions = footer.identity.partitions
        val reference =
          new ReferenceApplier(txn, files, footer, partitions, location.partition, rowChecksum)
        reference.applyAll()
        log.info(
          s"Put together $location version $version of ${reference.fileCount} files of before a " +
            s"rescale, of which ${reference.blockBytes} bytes of blocks were read"
        )
      } catch {
        case e @ (_: CorruptFile | _: MissingFile) =>
          throw new UnreadableVersion(
            s"Cannot load $location version $target: ${e.getMessage} A rescale has put version " +
              s"$version together from such files, and nothing else holds it. Restore the file, or " +
              s"go back to a batch before ${version.version - 1}.",
            e
          )
      }

    private def apply(txn: MapTxn, version: VersionId, kind: FileKind): Unit = {
      val file = files.open(version, kind)
      try {
        if (!file.footer.head.forall(files.isHead(version, _))) throw new OthersSnapshot
        checkKeyGroups(file)
        file.footer.dropped.foreach { name =>
          val index = txn.familyIndex(name)
          if (index >= 0) txn.dropFamily(index)
        }
        val families = file.footer.families.map(f => familyIn(txn, file, f.spec)).toArray
        new EntryApplier(txn, families, file, EntryFilter.All, 0, location.partition, rowChecksum)
          .applyAll()
        if (kind == FileKind.Delta) deltaBytes(version) = file.length
      } finally file.close()
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
      else if (txn.families(index).spec.isKeptAs(spec)) index
      else {
        throw new CorruptFile(
          file.path,
          s"its column family ${spec.name} is not kept as in the files before it"
        )
      }
    }
  }
}

private object FileLoader {
  private val log = LoggerFactory.getLogger(classOf[FileLoader])

  private final class BadSnapshot(cause: Throwable) extends RuntimeException(cause)

  /** The snapshot belongs to a replaced version of that name: docs/FORMAT.md, rule R8. */
  private final class OthersSnapshot extends RuntimeException
}

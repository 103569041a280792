package io.keyfold.store

import java.io.IOException

import scala.annotation.tailrec
import scala.collection.mutable
import scala.util.control.NonFatal

import io.keyfold.errors._
import io.keyfold.format._
import io.keyfold.map.{MapTxn, StateMap}
import org.slf4j.LoggerFactory

/** Rebuilds a version from files: the newest usable snapshot of its lineage, then the deltas after
  * it.
  *
  * @param newMap
  *   makes the map to fill, given the files' number of key groups
  */
private[store] final class FileLoader(
    files: StoreFiles,
    location: StoreLocation,
    settings: StoreSettings,
    counters: StoreCounters,
    newSeal: () => RowSeal,
    newMap: Int => StateMap
) {
  import FileLoader._

  /** Loads a version into a new map and commits it there.
    *
    * @throws io.keyfold.errors.StoreError
    *   if the version cannot be rebuilt
    */
  def load(target: VersionId): Resident = {
    val (head, keyGroups) = readHead(target)
    if (head.head.kind == FileKind.Reference) {
      throw new Invalid(
        "KEYFOLD_UNSUPPORTED",
        s"Cannot load $location version $target: this release does not read reference files"
      )
    }
    fill(target, keyGroups)(_.from(head.head, head.ancestors, Nil))
  }

  /** Rebuilds `end` from the snapshot of exactly `start` and the deltas after it, for whoever wants
    * to see that these very files give it.
    *
    * @throws io.keyfold.errors.StoreError
    *   if there is no such snapshot, or a delta cannot be read
    */
  def replay(start: VersionId, end: VersionId): Resident = {
    val (head, keyGroups) = readHead(end)
    val versions = chain(start.version, end, head.ancestors)
    if (versions.head != start || !files.hasSnapshot(start)) {
      throw new UnreadableVersion(
        s"Cannot replay $location version $end from the snapshot of version $start: there is none.",
        null
      )
    }
    val deltas = versions.tail.map(Ancestor(_, FileKind.Delta))
    try
      fill(end, keyGroups) { attempt =>
        attempt.build(Some(start), deltas)
        attempt.lineage(Ancestor(start, FileKind.Snapshot), deltas)
      }
    catch {
      case e: BadSnapshot => throw e.getCause
    }
  }

  private def fill(target: VersionId, keyGroups: Int)(build: Attempt => Lineage): Resident = {
    val map = newMap(keyGroups)
    try {
      val lineage = build(new Attempt(target, keyGroups, map))
      new Resident(map, keyGroups, target, lineage)
    } catch {
      case NonFatal(e) =>
        map.close()
        throw e
    }
  }

  /** The versions that lead to `end`, oldest first, from number `from` on.
    *
    * @throws io.keyfold.errors.StoreError
    *   if they cannot be told, or a rescale lies between
    */
  def chain(from: Long, end: VersionId): List[VersionId] = chain(from, end, Nil)

  /** @param ancestors
    *   of `end`, if its head was read already
    */
  private def chain(from: Long, end: VersionId, ancestors: List[Ancestor]): List[VersionId] = {
    @tailrec
    def down(here: VersionId, older: List[Ancestor], newer: List[VersionId]): List[VersionId] =
      if (here.version == from) here :: newer
      else if (older.isEmpty) {
        val below = readHead(here)._1.ancestors
        if (below.isEmpty) throw endOfChain(here)
        down(here, below, newer)
      } else if (older.head.kind == FileKind.Reference) throw endOfChain(older.head.version)
      else down(older.head.version, older.tail, here :: newer)

    def endOfChain(here: VersionId) = new UnreadableVersion(
      s"Cannot go back from $location version $end to version $from: version $here does not build " +
        "on deltas (the query began there anew, or its partitions were rescaled).",
      null
    )
    if (from < 1 || from > end.version) {
      throw new Invalid(
        "KEYFOLD_INVALID_VERSION",
        s"Invalid version $from of $location: it must be between 1 and ${end.version}"
      )
    }
    down(end, ancestors, Nil)
  }

  /** Number of key groups of a version; nothing if it has no files of Keyfold's. */
  def keyGroups(version: VersionId): Option[Int] =
    try Option.when(version != VersionId.Empty)(readHead(version)._2)
    catch { case _: MissingFile | _: ForeignFile => None }

  private def readHead(version: VersionId): (Lineage, Int) =
    try {
      val file = files.head(version)
      try {
        val footer = file.footer
        (Lineage(Ancestor(version, file.kind) :: footer.lineage.toList), footer.identity.keyGroups)
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
    private val seal = newSeal()
    private val deltaBytes = mutable.Map.empty[VersionId, Long]
    private var broken: Option[BadSnapshot] = None

    /** Tries snapshots from the newest down. Below the last ancestor listed, that version's own
      * head shows the way to older ones.
      *
      * @param newer
      *   what lies above `here`, oldest first
      */
    @tailrec
    def from(here: Ancestor, older: List[Ancestor], newer: List[Ancestor]): Lineage = {
      val usable = here.kind == FileKind.Snapshot || files.hasSnapshot(here.version)
      if (usable && tryBuild(here.version, newer)) {
        lineage(Ancestor(here.version, FileKind.Snapshot), newer)
      } else if (here.version.version == 1) {
        checkRepair(newer.size + 1)
        build(None, here :: newer)
        lineage(Ancestor(here.version, FileKind.Delta), newer)
      } else {
        val below = if (older.nonEmpty) older else belowSnapshot(here)
        from(below.head, below.tail, here :: newer)
      }
    }

    private def belowSnapshot(last: Ancestor): List[Ancestor] = {
      val head =
        try readHead(last.version)._1
        catch {
          case e: MissingFile => throw noOtherWay(last.version, e)
        }
      if (head.head.kind != FileKind.Delta || head.ancestors.isEmpty) {
        throw noOtherWay(last.version, null)
      }
      head.ancestors
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
      (1 to tries).exists { n =>
        try {
          build(Some(snapshot), deltas)
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
      *   how many an older snapshot takes
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

    /** @param deltas
      *   oldest first
      */
    def build(snapshot: Option[VersionId], deltas: List[Ancestor]): Unit = {
      val txn = map.begin(VersionId.Empty)
      try {
        snapshot.foreach { version =>
          try apply(txn, version, FileKind.Snapshot)
          catch {
            // It says nothing about the file.
            case e: OutOfMemory                       => throw e
            case e @ (_: StoreError | _: IOException) => throw new BadSnapshot(e)
          }
        }
        deltas.foldLeft(snapshot.getOrElse(VersionId.Empty)) { (readable, delta) =>
          applyDelta(txn, delta.version, readable)
          delta.version
        }
        txn.commit(target)
      } finally txn.release()
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

    private def apply(txn: MapTxn, version: VersionId, kind: FileKind): Unit = {
      val file = files.open(version, kind)
      try {
        checkKeyGroups(file)
        for (name <- file.footer.dropped; index = txn.familyIndex(name) if index >= 0) {
          txn.dropFamily(index)
        }
        val families = file.footer.families.map(f => familyIn(txn, f.spec)).toArray
        new EntryApplier(txn, families, file, location.partition, seal).applyAll()
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

    private def familyIn(txn: MapTxn, spec: FamilySpec): Int = {
      val index = txn.familyIndex(spec.name)
      if (index >= 0) index else txn.createFamily(spec)
    }
  }
}

private object FileLoader {
  private val log = LoggerFactory.getLogger(classOf[FileLoader])

  private final class BadSnapshot(cause: Throwable) extends RuntimeException(cause)
}

package io.keyfold.map.arena

import java.nio.file.Files

import scala.collection.mutable

import io.keyfold.group.KeyGroups
import io.keyfold.map.{
  ChangeCursor,
  LazyRows,
  LocalBytes,
  MapSuite,
  MapTxn,
  MapView,
  RangesAndListsSuiteBase,
  RowCursor,
  RowSink,
  StateMap,
  StateMapSuiteBase
}
import io.keyfold.mem.Slice
import io.keyfold.mem.arena.MemoryUse
import io.keyfold.mem.page.{PagePool, SpillFiles}
import io.keyfold.model.{Family, FamilySpec, VersionId}

/** Rows of a version, kept on the heap until they are asked for. */
final class RowsOfView(view: MapView, keyGroups: Int, together: Int = 1) extends LazyRows {
  override def isBroken: Boolean = false

  private type Row = (Int, Array[Byte], List[Array[Byte]])
  private val rows = view.families.indices.map { family =>
    val cursor = view.scan(family)
    val found = mutable.ArrayBuffer.empty[Row]
    while (cursor.next()) {
      val (hash, key, first) = (cursor.hash, cursor.key.toArray, cursor.value.toArray)
      val more = Iterator.continually(cursor.nextValue()).takeWhile(identity)
      found += ((hash, key, first :: more.map(_ => cursor.value.toArray).toList))
    }
    found.toSeq.groupBy(row => KeyGroups.groupOf(row._1, keyGroups))
  }
  var isClosed = false
  var puts = 0

  override def groups(family: Int): Seq[Array[Int]] =
    rows(family).keys.toArray.sorted.grouped(together).toSeq

  override def size(family: Int, group: Int): (Long, Long) = {
    val sizes = rows(family)(group).map { case (_, key, values) =>
      key.length.toLong + values.map(_.length.toLong).sum
    }
    (sizes.size.toLong, sizes.sum)
  }

  override def find(family: Int, group: Int, hash: Int, key: Slice, value: Slice): Boolean = {
    assert(!isClosed)
    val found = rows(family)(group).find { case (_, it, _) => it.sameElements(key.toArray) }
    found.foreach { case (_, _, values) => value.set(values.head) }
    found.nonEmpty
  }

  override def put(family: Int, group: Int, into: RowSink): Unit = {
    assert(!isClosed)
    puts += 1
    into.expect(family, rows(family)(group).size)
    for ((hash, key, values) <- rows(family)(group)) {
      // As files of several versions do.
      into.put(family, hash, new Slice().set(key), new Slice().set(Array[Byte](1)))
      assert(into.remove(family, hash, new Slice().set(key)))
      into.put(family, hash, new Slice().set(key), new Slice().set(values.head))
      for (value <- values.tail) {
        into.append(family, hash, new Slice().set(key), new Slice().set(value))
      }
    }
  }

  override def close(): Unit = isClosed = true
}

/** A map in which the first version without ordered families is loaded, its rows to come later. */
final class LazyMap(val inner: ArenaMap, together: Int) extends StateMap {
  private var loaded = Option.empty[RowsOfView]

  override def holds(version: VersionId): Boolean = inner.holds(version)
  override def pin(version: VersionId): MapView = inner.pin(version)
  override def begin(base: VersionId): MapTxn = {
    val rows = inner.begin(base)
    if (base != VersionId.Empty || loaded.nonEmpty) rows else new LoadedTxn(rows)
  }
  override def retain(keep: VersionId => Boolean): Unit = inner.retain(keep)
  override def memory: MemoryUse = inner.memory
  override def newLocalBytes(): Option[LocalBytes] = inner.newLocalBytes()
  override def close(): Unit = inner.close()

  /** On its commit the rows are thrown away, and the same version is loaded. */
  private final class LoadedTxn(first: MapTxn) extends MapTxn {
    private var it = first
    private val written = VersionId(Long.MaxValue, "written")

    override def commit(version: VersionId): Unit =
      if (it.families.exists(_.spec.ordered) || loaded.nonEmpty) it.commit(version)
      else {
        val families = it.families
        val rows = new RowsOfView(it, inner.keyGroups, together)
        it.commit(written)
        val loading = inner.begin(VersionId.Empty)
        families.foreach(family => loading.createFamily(family.spec))
        loading.putLater(rows, families)
        loading.commit(version)
        inner.retain(_ != written)
        loaded = Some(rows)
        it = loading
      }

    override def release(): Unit = {
      first.release()
      it.release()
    }

    override def families: IndexedSeq[Family] = it.families
    override def familyIndex(name: String): Int = it.familyIndex(name)
    override def get(family: Int, hash: Int, key: Slice, value: Slice): Boolean =
      it.get(family, hash, key, value)
    override def values(family: Int, hash: Int, key: Slice): RowCursor =
      it.values(family, hash, key)
    override def scan(family: Int): RowCursor = it.scan(family)
    override def scanPrefix(family: Int, prefix: Slice): RowCursor = it.scanPrefix(family, prefix)
    override def scanRange(family: Int, start: Slice, end: Slice): RowCursor =
      it.scanRange(family, start, end)
    override def groups(family: Int): Array[Int] = it.groups(family)
    override def scanGroup(family: Int, group: Int): RowCursor = it.scanGroup(family, group)
    override def createFamily(spec: FamilySpec): Int = it.createFamily(spec)
    override def dropFamily(family: Int): Unit = it.dropFamily(family)
    override def markStrays(family: Int): Unit = it.markStrays(family)
    override def dropped: Seq[String] = it.dropped
    override def putLater(rows: LazyRows, sizes: IndexedSeq[Family]): Unit =
      it.putLater(rows, sizes)
    override def expect(family: Int, rows: Int): Unit = it.expect(family, rows)
    override def put(family: Int, hash: Int, key: Slice, value: Slice): Unit =
      it.put(family, hash, key, value)
    override def append(family: Int, hash: Int, key: Slice, value: Slice): Unit =
      it.append(family, hash, key, value)
    override def remove(family: Int, hash: Int, key: Slice): Boolean =
      it.remove(family, hash, key)
    override def removeRange(family: Int, start: Slice, end: Slice): Long =
      it.removeRange(family, start, end)
    override def isUnchanged: Boolean = it.isUnchanged
    override def changedGroups(family: Int): Array[Int] = it.changedGroups(family)
    override def changes(family: Int, group: Int): ChangeCursor = it.changes(family, group)
    override def abort(): Unit = it.abort()
  }
}

trait LazyMaps { this: MapSuite =>

  /** Key groups that are put together. */
  protected def together: Int = 1

  protected def newInner(keyGroups: Int): ArenaMap = {
    val files = new SpillFiles(Files.createTempDirectory("keyfold-lazy"))
    new ArenaMap(keyGroups, new PagePool(1L << 30, Some(files)))
  }

  override protected def newMap(keyGroups: Int): StateMap =
    new LazyMap(newInner(keyGroups), together)

  override protected def checkNothingLeft(map: StateMap): Unit = {
    map.retain(_ => false)
    val inner = map.asInstanceOf[LazyMap].inner
    assert(inner.liveObjects == 0)
    assert(inner.coldFiles.runs == 0)
    ()
  }
}

class LazyRowsSuite extends StateMapSuiteBase with LazyMaps
class LazyListsSuite extends RangesAndListsSuiteBase with LazyMaps {
  // A list arrives whole.
  override protected def isInMemory: Boolean = false
}

/** Rows that come go to files at once. */
class LazyEvictedRowsSuite extends StateMapSuiteBase with LazyMaps {
  override protected def isInMemory: Boolean = false
  override protected def together: Int = 4
  override protected def newInner(keyGroups: Int): ArenaMap = Evicting.mapOf(keyGroups, 1L << 40)
}

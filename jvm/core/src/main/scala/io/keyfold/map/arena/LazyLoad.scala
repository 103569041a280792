package io.keyfold.map.arena

import io.keyfold.errors.{OutOfMemory, OutOfOrder}
import io.keyfold.map.cold.{ColdFiles, ColdRun, ColdSpace, FoundRows, LazyRuns}
import io.keyfold.map.hash.{Epochs, HashKey, HashTable, LazyGroups}
import io.keyfold.map.version.{GroupTable, HashedIndex, VersionNode, VersionTree}
import io.keyfold.map.{LazyRows, RowSink}
import io.keyfold.mem.Slice
import io.keyfold.mem.arena.Arena

/** Puts the rows of key groups into a map when somebody first asks for them. They are rows of the
  * version that was loaded, so all versions see them: a group is put before it is written to.
  *
  * Threads: only who may write to the arena puts; [[putElsewhere]] is for others.
  *
  * @param loading
  *   the transaction that loads the version
  * @param newFiles
  *   for rows that there is no room for
  */
private[map] final class LazyLoad(
    rows: LazyRows,
    arena: Arena,
    cold: ColdSpace,
    room: RoomMaker,
    tree: VersionTree,
    loading: VersionNode,
    keyGroups: Int,
    hashKey: HashKey,
    newFiles: () => ColdFiles
) extends AutoCloseable {
  import LazyLoad._

  /** The version's records have this epoch. It counts nothing: the version has its counts. */
  private val node = new VersionNode(tree.root, Array.empty, Epochs.None, loading.first)
  private val uncounted = loading.hashed.map { rows =>
    val index = new HashedIndex(rows.spec, rows.table, GroupTable.empty(keyGroups))
    index.table.users -= 1
    index
  }.toArray
  private val writer =
    new RowWriter(arena, cold, new FoundRows, node, node.sight, keyGroups, hashKey)
  private var left = 0
  private var closed = false

  for (family <- uncounted.indices) {
    val groups = rows.groups(family)
    if (groups.nonEmpty) {
      uncounted(family).table.lazyGroups = new LazyGroups(keyGroups, groups, family)
      left += groups.map(_.length).sum
    }
  }

  /** Bytes that the rows of each family take in memory, about. */
  private val expected =
    loading.hashed.map(rows => rows.bytes + rows.keys * RowBytes).toArray
  room.expect(expected.sum)

  /** Number of groups that were put: a view that was made before does not know their pages. */
  @volatile var count = 0

  /** Whether rows could not be read: versions must be loaded again. */
  def isBroken: Boolean = rows.isBroken

  if (left == 0) allAreHere()

  private object sink extends RowSink {
    override def expect(family: Int, rows: Int): Unit =
      uncounted(family).table.expect(rows)
    override def put(family: Int, hash: Int, key: Slice, value: Slice): Unit =
      writer.write(uncounted(family), hash, key, value, append = false)
    override def append(family: Int, hash: Int, key: Slice, value: Slice): Unit =
      writer.write(uncounted(family), hash, key, value, append = true)
    override def remove(family: Int, hash: Int, key: Slice): Boolean =
      writer.remove(uncounted(family), hash, key)
  }

  /** Puts a group, and those that are read with it, unless they have been. If that fails, a group
    * is there in part.
    */
  def put(table: HashTable, group: Int): Unit = rows.synchronized {
    val ofTable = table.lazyGroups
    if (ofTable != null && ofTable.has(group)) {
      if (closed) throw new OutOfOrder("Cannot read rows of a map that was closed")
      for (one <- ofTable.beside(group) if ofTable.has(one)) {
        val before = arena.liveBytes
        fill(table, ofTable.family, one)
        room.loaded(arena.liveBytes - before)
        count += 1
        ofTable.loaded(one)
        left -= 1
      }
      if (left == 0) allAreHere()
    }
  }

  private def fill(table: HashTable, family: Int, group: Int): Unit = {
    val (entries, bytes) = rows.size(family, group)
    val mayStay = !uncounted(family).spec.multiValue && bytes <= MostLazyBytes
    if (mayStay && !room.mayLoad) keepLazy(table, family, group, entries.toInt)
    else {
      table.fill(rows.put(family, group, sink))
      if (room.isFull) evict(table, group)
    }
  }

  /** There is no room: rows stay where they are, as a run. */
  private def keepLazy(table: HashTable, family: Int, group: Int, entries: Int): Unit = {
    if (cold.files.lazyRuns == null) {
      cold.files.lazyRuns =
        new LazyRuns(newFiles(), hashKey, rows, () => if (left == 0) closeFiles())
    }
    val run = arena.allocate(ColdRun.LazyLength)
    val place = table.lazyGroups.place(group)
    val number = cold.files.lazyRuns.add(family, group, place)
    ColdRun.initializeLazy(arena.addresses.of(run), node.epoch, entries, number)
    for (version <- versionsOf(table)) version.cold(group) = run
  }

  private def versionsOf(table: HashTable) =
    tree.descendants(tree.root).flatMap(_.hashedOrDropped).filter(_.table eq table)

  /** Moves the rows of a group that has just been put, which nobody has seen, to a run. */
  private def evict(table: HashTable, group: Int): Unit = {
    try {
      new Evictor(arena, cold, node).settle(versionsOf(table), group, node.epoch)
      ()
    } catch {
      // The disk is full: they stay.
      case _: OutOfMemory => ()
    }
  }

  /** Puts a group elsewhere.
    *
    * @return
    *   false if it has been put here
    */
  def putElsewhere(table: HashTable, group: Int, into: RowSink): Boolean = rows.synchronized {
    val ofTable = table.lazyGroups
    ofTable != null && ofTable.has(group) && {
      if (closed) throw new OutOfOrder("Cannot read rows of a map that was closed")
      rows.put(ofTable.family, group, into)
      true
    }
  }

  /** Of families that no version has any more, nobody asks for a group. */
  def forgetDropped(): Unit =
    for (i <- uncounted.indices) {
      val table = uncounted(i).table
      if (table.users == 0 && table.lazyGroups != null) rows.synchronized {
        left -= table.lazyGroups.left.length
        table.lazyGroups = null
        expectNoMore(i)
        if (left == 0) allAreHere()
      }
    }

  /** No group has to be asked for any more. */
  private def allAreHere(): Unit = {
    uncounted.indices.foreach(expectNoMore)
    uncounted.foreach(_.table.lazyGroups = null)
    closeFiles()
  }

  private def expectNoMore(family: Int): Unit = {
    room.expect(-expected(family))
    expected(family) = 0
  }

  /** Nothing is read any more from those whose rows have all come, or are in sorted runs. */
  private def closeFiles(): Unit = {
    val lazyRuns = Option(cold.files).flatMap(files => Option(files.lazyRuns))
    if (closed || lazyRuns.forall(_.areStored)) rows.close()
    if (closed || lazyRuns.forall(_.isEmpty)) lazyRuns.foreach(_.close())
  }

  override def close(): Unit = rows.synchronized {
    if (!closed) {
      closed = true
      uncounted.indices.foreach(expectNoMore)
      closeFiles()
    }
  }
}

private object LazyLoad {

  /** What a row takes beside key and value, about. */
  private val RowBytes = 24

  /** Of a group that stays where it is: its rows are on the heap when they are scanned or written.
    */
  private val MostLazyBytes = 8L << 20
}

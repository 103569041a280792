package io.keyfold.map.arena

import io.keyfold.errors.Invalid
import io.keyfold.group.KeyGroups
import io.keyfold.map.cold.{ColdRow, ColdRuns}
import io.keyfold.map.cursor.{RecordRunCursor, PagePins, ViewLock}
import io.keyfold.map.hash.{HashCursor, HashTrie}
import io.keyfold.map.ordered.{GroupedRecords, OrderedTree, TreeCursor}
import io.keyfold.map.value.{RecordRun, ValueHead, ValueNodes, ValueSteps}
import io.keyfold.map.version.{FamilyIndex, HashedIndex, OrderedIndex, Pin, VersionNode}
import io.keyfold.map.{MapView, RowCursor}
import io.keyfold.mem.Slice
import io.keyfold.mem.arena.Addresses
import io.keyfold.model.Family

/** The rows of a node of the version tree. Only [[ViewLock]] synchronises threads that use or
  * release it.
  */
private[map] class ArenaView(map: ArenaMap, node: VersionNode, addresses: Addresses)
    extends MapView {
  val lock = new ViewLock(this)
  protected var trie = new HashTrie(addresses)
  protected var tree = new OrderedTree(addresses)
  protected var runs = new ColdRuns(addresses, map.coldFiles)
  private val pin = newPin(map, node)

  /** Pins the pages of cursors; null unless this is an open transaction. */
  protected def txn: PagePins = null

  override def families: IndexedSeq[Family] = node.families.map(_.family).toIndexedSeq
  override def familyIndex(name: String): Int = node.families.indexWhere(_.spec.name == name)

  override def get(family: Int, hash: Int, key: Slice, value: Slice): Boolean =
    if (lock.isMine) getNow(family, hash, key, value)
    else lock.locked(getNow(family, hash, key, value) && lock.detach(value))

  private def getNow(family: Int, hash: Int, key: Slice, value: Slice): Boolean = {
    val rows = node.families(family)
    val record = find(rows, hash, key)
    if (record == 0) {
      val row = findCold(rows, hash, key)
      row != null && row.nextValue(value) && {
        rows match {
          case hashed: HashedIndex if !hashed.spec.multiValue =>
            map.noteFound(node, hashed.number, key, value.length)
          case _ => ()
        }
        true
      }
    } else
      !trie.records.isRemoved(record) && {
        trie.records.value(record, value)
        if (rows.spec.multiValue) firstValue(value)
        // A row that was kept instead at each of a key's many puts would fill the memory.
        if (mayChange(record)) value.set(value.toArray)
        true
      }
  }

  /** Whether a later put may overwrite the record. */
  protected def mayChange(record: Int): Boolean = false

  private def firstValue(head: Slice): Unit = {
    val nodes = new ValueNodes(trie.addresses)
    nodes.value(nodes.oldest(ValueHead.newest(head)), head)
    ()
  }

  override def values(family: Int, hash: Int, key: Slice): RowCursor =
    if (lock.isMine) valuesNow(family, hash, key)
    else lock.locked(valuesNow(family, hash, key))

  private def valuesNow(family: Int, hash: Int, key: Slice): RowCursor = {
    val rows = node.families(family)
    val record = find(rows, hash, key)
    val cold = if (record == 0) findCold(rows, hash, key) else null
    if (cold != null) new ColdValuesCursor(cold)
    else {
      val isThere = record != 0 && !trie.records.isRemoved(record)
      val run = new RecordRun(Array(record), 0, if (isThere) 1 else 0)
      new RecordRunCursor(trie.records, run, steps(rows), lock, txn)
    }
  }

  protected def contains(rows: FamilyIndex, hash: Int, key: Slice): Boolean = {
    val record = find(rows, hash, key)
    if (record == 0) findCold(rows, hash, key) != null else !trie.records.isRemoved(record)
  }

  /** The row of a key that has no record, if a run has it, until the next call; or null. */
  private def findCold(rows: FamilyIndex, hash: Int, key: Slice): ColdRow = rows match {
    case hashed: HashedIndex =>
      val newest = hashed.cold(KeyGroups.groupOf(hash, map.keyGroups))
      if (newest == 0) null else runs.find(newest, map.hashKey.hash(key), key)
    case _: OrderedIndex => null
  }

  /** The record of a key, which may say that the row was removed; or 0. */
  protected def find(rows: FamilyIndex, hash: Int, key: Slice): Int = rows match {
    case hashed: HashedIndex =>
      trie.find(hashed.roots(KeyGroups.groupOf(hash, map.keyGroups)), map.hashKey.hash(key), key)
    case ordered: OrderedIndex => tree.find(ordered.root, key)
  }

  override def scan(family: Int): RowCursor =
    if (lock.isMine) scanNow(family) else lock.locked(scanNow(family))

  private def scanNow(family: Int): RowCursor = node.families(family) match {
    case hashed: HashedIndex   => scanGroups(hashed, groupsOf(hashed))
    case ordered: OrderedIndex => scanTree(ordered, TreeCursor.first, null)
  }

  override def scanPrefix(family: Int, prefix: Slice): RowCursor =
    scanRows(family, copyOf(prefix), TreeCursor.behindPrefix(prefix))

  override def scanRange(family: Int, start: Slice, end: Slice): RowCursor = {
    val from = if (start == null) TreeCursor.first else copyOf(start)
    scanRows(family, from, if (end == null) null else copyOf(end))
  }

  private def scanRows(family: Int, from: Slice, until: Slice): RowCursor = {
    val rows = orderedRows(family, "scan")
    if (lock.isMine) scanTree(rows, from, until) else lock.locked(scanTree(rows, from, until))
  }

  private def scanTree(rows: OrderedIndex, from: Slice, until: Slice) =
    new TreeCursor(tree, rows.root, from, until, steps(rows), lock, txn)

  private def scanGroups(rows: HashedIndex, groups: Array[Int]): RowCursor = {
    val cold = groups.filter(rows.cold(_) != 0)
    val hot = new HashCursor(trie, rows.roots, cold.nonEmpty, groups, steps(rows), lock, txn)
    if (cold.isEmpty) hot
    else {
      val runs = new ColdRuns(trie.addresses, map.coldFiles)
      new TieredCursor(hot, new ColdCursor(runs, trie, rows, cold), lock, txn)
    }
  }

  private def steps(rows: FamilyIndex): ValueSteps =
    if (rows.spec.multiValue) new ValueSteps(trie.addresses) else null

  private def copyOf(bytes: Slice) = new Slice().set(bytes.toArray)

  /** @param what
    *   the operation, for the message
    */
  protected def orderedRows(family: Int, what: String): OrderedIndex =
    node.families(family) match {
      case ordered: OrderedIndex => ordered
      case hashed: HashedIndex   =>
        throw new Invalid(
          "KEYFOLD_NOT_ORDERED",
          s"Cannot $what a prefix or range of ${hashed.spec.name}: it is not ordered"
        )
    }

  override def groups(family: Int): Array[Int] = node.families(family) match {
    case hashed: HashedIndex =>
      // What is in runs may have been removed.
      groupsOf(hashed).filter(group => hashed.cold(group) == 0 || isThere(scanGroup(family, group)))
    case ordered: OrderedIndex =>
      (if (lock.isMine) grouped(ordered) else lock.locked(grouped(ordered))).groups
  }

  private def isThere(rows: RowCursor) =
    try rows.next()
    finally rows.close()

  private def groupsOf(rows: HashedIndex): Array[Int] = {
    val (hot, cold) = (rows.roots.groups, rows.cold.groups)
    if (cold.isEmpty) hot else (hot ++ cold).distinct
  }

  override def scanGroup(family: Int, group: Int): RowCursor =
    if (lock.isMine) scanGroupNow(family, group) else lock.locked(scanGroupNow(family, group))

  private def scanGroupNow(family: Int, group: Int): RowCursor = node.families(family) match {
    case hashed: HashedIndex   => scanGroups(hashed, Array(group))
    case ordered: OrderedIndex =>
      new RecordRunCursor(tree.records, grouped(ordered).of(group), steps(ordered), lock, txn)
  }

  /** The ordered family of the last call. */
  private var lastGrouped: GroupedRecords = _
  private var lastRows: OrderedIndex = _

  /** Invalidates the cached records of an ordered family. */
  protected def orderedChanged(): Unit = lastRows = null

  private def grouped(rows: OrderedIndex): GroupedRecords = {
    if (lastRows ne rows) {
      lastGrouped = new GroupedRecords(tree.records, map.keyGroups)(tree.eachNewer(rows.root, 0))
      lastRows = rows
    }
    lastGrouped
  }

  override def release(): Unit = lock.end { isQuiet =>
    lock.shut()
    if (isQuiet) pin.run()
  }

  /** Must not capture this view, or the view could never be collected. */
  protected def newPin(map: ArenaMap, node: VersionNode): Pin = Pin.of(this)(map.unpin(node))
}

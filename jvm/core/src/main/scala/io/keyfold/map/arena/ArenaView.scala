package io.keyfold.map.arena

import java.lang.ref.Cleaner.Cleanable

import io.keyfold.errors.Invalid
import io.keyfold.group.KeyGroups
import io.keyfold.io.OnFailure
import io.keyfold.map.cold.{ColdByGroup, ColdFiles, ColdRow, ColdRuns}
import io.keyfold.map.cursor.{RecordRunCursor, PagePins, ViewLock}
import io.keyfold.map.hash.{HashTable, Sight}
import io.keyfold.map.ordered.{OrderedTree, TreeCursor}
import io.keyfold.map.value.{GroupedRecords, RecordRun, Records, ValueHead, ValueNodes, ValueSteps}
import io.keyfold.map.version.{FamilyIndex, HashedIndex, OrderedIndex, Pin, VersionNode}
import io.keyfold.map.{MapView, RowCursor}
import io.keyfold.mem.Slice
import io.keyfold.mem.arena.Addresses
import io.keyfold.model.Family

/** The rows of a node of the version tree. Only [[ViewLock]] synchronises threads that use or
  * release it.
  */
private[map] class ArenaView(
    map: ArenaMap,
    node: VersionNode,
    addresses: Addresses,
    first: Thread
) extends MapView {
  val lock = new ViewLock(this, first)

  /** Number of lazy groups that were put before the addresses were taken; -1: not known. */
  private var loaded = -1
  protected var records: Records = _
  protected var tree: OrderedTree = _
  protected var runs: ColdRuns = _
  use(addresses, loadedThen = -1)
  private val pin = newPin(map, node)

  private def use(addresses: Addresses, loadedThen: Int): Unit = {
    loaded = loadedThen
    records = new Records(addresses)
    tree = new OrderedTree(addresses, map.coldFiles)
    runs = new ColdRuns(addresses, map.coldFiles)
  }

  /** Takes the addresses anew. */
  protected def renew(): Unit = {
    val loadedNow = map.loadedGroups
    use(newAddresses, loadedNow)
  }

  protected def newAddresses: Addresses = map.readerAddresses()

  /** Lazy groups that could not be put when they were asked for; null: there were none. */
  private var privately: PrivateGroups = _

  /** Pins the pages of cursors; null unless this is an open transaction. */
  protected def txn: PagePins = null

  /** What it sees of the records of hash tables. */
  protected def sight: Sight = nodeSight
  private val nodeSight = node.sight

  override def families: IndexedSeq[Family] = node.families.map(_.family).toIndexedSeq
  override def familyIndex(name: String): Int = node.families.indexWhere(_.spec.name == name)

  override def get(family: Int, hash: Int, key: Slice, value: Slice): Boolean =
    if (lock.isMine) getNow(family, hash, key, value)
    else lock.locked(getNow(family, hash, key, value) && lock.detach(value))

  private def getNow(family: Int, hash: Int, key: Slice, value: Slice): Boolean = {
    val rows = node.families(family)
    val other = elsewhere(family, rows, hash)
    if (other != null) other.get(family, hash, key, value)
    else getHere(rows, hash, key, value)
  }

  private def getHere(rows: FamilyIndex, hash: Int, key: Slice, value: Slice): Boolean = {
    val record = find(rows, hash, key)
    if (record == 0) {
      val row = findCold(rows, hash, key)
      row != null && row.nextValue(value) && {
        rows match {
          case hashed: HashedIndex if !hashed.spec.multiValue =>
            map.noteFound(node, hashed.table.number, key, value.length)
          case _ => ()
        }
        true
      }
    } else
      record != HashTable.Removed && {
        records.value(record, value)
        if (rows.spec.multiValue) firstValue(value)
        // A row that was kept instead at each of a key's many puts would fill the memory.
        if (mayChange(record)) value.set(value.toArray)
        true
      }
  }

  /** The view that has the row of a key, if its group is lazy and cannot be put now; else null: the
    * row is here, if there is one.
    */
  private def elsewhere(family: Int, rows: FamilyIndex, hash: Int): MapView = rows match {
    case hashed: HashedIndex =>
      val other =
        if (hashed.table.lazyGroups == null) null
        else elsewhere(family, hashed.table, KeyGroups.groupOf(hash, map.keyGroups))
      renewIfStale()
      other
    case _: OrderedIndex => null
  }

  private def elsewhere(family: Int, table: HashTable, group: Int): MapView =
    if (privately != null && privately.has(family, group)) privately.of(family, table, group)
    else if (isGroupHere(table, group)) null
    else privateGroups.of(family, table, group)

  /** Puts a lazy group, if that is possible now. */
  protected def isGroupHere(table: HashTable, group: Int): Boolean = {
    val lazily = table.lazyGroups
    lazily == null || !lazily.has(group) || loadGroup(table, group)
  }

  private def privateGroups: PrivateGroups = {
    if (privately == null) privately = map.newPrivateGroups(node.families.toSeq.map(_.spec))
    privately
  }

  private def lazyGroupsOf(rows: HashedIndex): Array[Int] = {
    val lazily = rows.table.lazyGroups
    if (lazily == null) Array.emptyIntArray else lazily.left
  }

  /** The lazy groups of a family that cannot be put now. */
  private def awaitAll(rows: HashedIndex): Array[Int] = {
    val missing = lazyGroupsOf(rows).filterNot(isGroupHere(rows.table, _))
    renewIfStale()
    missing
  }

  /** To be called behind a look at what is lazy: groups are counted before they are lazy no more.
    */
  private def renewIfStale(): Unit = if (loaded != map.loadedGroups) renew()

  /** Puts a lazy group into the map, if this thread may. */
  private[map] def loadGroup(table: HashTable, group: Int): Boolean = map.loadGroup(table, group)

  /** Whether a later put may overwrite the record. */
  protected def mayChange(record: Int): Boolean = false

  private def firstValue(head: Slice): Unit = {
    val nodes = new ValueNodes(records.addresses)
    nodes.value(nodes.oldest(ValueHead.newest(head)), head)
    ()
  }

  override def values(family: Int, hash: Int, key: Slice): RowCursor =
    if (lock.isMine) valuesNow(family, hash, key)
    else lock.locked(valuesNow(family, hash, key))

  private def valuesNow(family: Int, hash: Int, key: Slice): RowCursor = {
    val rows = node.families(family)
    val other = elsewhere(family, rows, hash)
    if (other != null) other.values(family, hash, key) else valuesHere(rows, hash, key)
  }

  private def valuesHere(rows: FamilyIndex, hash: Int, key: Slice): RowCursor = {
    val record = find(rows, hash, key)
    val cold = if (record == 0) findCold(rows, hash, key) else null
    if (cold != null) new ColdValuesCursor(cold)
    else {
      val isThere = record != 0 && record != HashTable.Removed
      val run = new RecordRun(Array(record), 0, if (isThere) 1 else 0)
      new RecordRunCursor(records, run, steps(rows), lock, txn)
    }
  }

  /** The row of a key for which [[find]] has just found no record, if a file has it, until the next
    * call; or null.
    */
  protected def findCold(rows: FamilyIndex, hash: Int, key: Slice): ColdRow = rows match {
    case hashed: HashedIndex =>
      val newest = hashed.cold(KeyGroups.groupOf(hash, map.keyGroups))
      if (newest == 0) null else runs.find(newest, map.hashKey.hash(key), hash, key)
    case _: OrderedIndex => tree.findCold(key)
  }

  /** As [[HashTable.find]]. */
  protected def find(rows: FamilyIndex, hash: Int, key: Slice): Int = rows match {
    case hashed: HashedIndex =>
      findHashed(hashed.table, KeyGroups.groupOf(hash, map.keyGroups), map.hashKey.hash(key), key)
    case ordered: OrderedIndex => tree.find(ordered.root, key)
  }

  protected def findHashed(table: HashTable, group: Int, hash: Int, key: Slice): Int = {
    table.lock.lock()
    try table.find(group, hash, key, sight)
    finally table.lock.unlock()
  }

  override def scan(family: Int): RowCursor = lock.entered(node.families(family) match {
    case hashed: HashedIndex   => scanHashed(family, hashed)
    case ordered: OrderedIndex => scanTree(ordered, TreeCursor.first, null)
  })

  /** Lazy groups are put when the cursor is there. Not for an open transaction, whose cursor must
    * not show what it writes meanwhile.
    */
  private def scanHashed(family: Int, rows: HashedIndex): RowCursor = {
    val missing = if (txn == null) lazyGroupsOf(rows) else awaitAll(rows)
    renewIfStale()
    val here = groupsOf(rows)
    if (missing.isEmpty) scanGroups(rows, here)
    else
      new CursorsInTurn(
        Iterator.single(scanGroups(rows, here.diff(missing))) ++
          missing.iterator.map(scanGroup(family, _))
      )
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
    val cold = inFileOrder(rows, groups.filter(rows.cold(_) != 0))
    val hot = new HashCursor(rows.table, records, sight, groups, steps(rows), lock, txn)
    if (cold.isEmpty) hot
    else {
      // Keeps what the rows in runs are compared with.
      val pages = if (txn == null) null else txn.pinPages()
      val seen = if (pages == null) sight else sight.until(pages.epoch)
      val runs = new ColdRuns(records.addresses, map.coldFiles)
      new TieredCursor(hot, new ColdCursor(runs, rows, seen, cold), lock, txn, pages)
    }
  }

  /** Groups whose rows are still in blocks of files share these. */
  private def inFileOrder(rows: HashedIndex, groups: Array[Int]): Array[Int] =
    if (groups.length < 2 || map.coldFiles.lazyRuns == null) groups
    else groups.sortBy(group => runs.lazyPlace(rows.cold(group)))

  private def steps(rows: FamilyIndex): ValueSteps =
    if (rows.spec.multiValue) new ValueSteps(records.addresses) else null

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

  override def groups(family: Int): Array[Int] = lock.entered(node.families(family) match {
    case hashed: HashedIndex =>
      val missing = awaitAll(hashed)
      missing ++ groupsOf(hashed).diff(missing).filter { group =>
        hashed.cold(group) != 0 || hashed.table.locked(hashed.table.hasRows(group, sight))
      }
    case ordered: OrderedIndex =>
      val hot = grouped(ordered).groups
      if (lastCold == null) hot else (hot ++ lastCold.groups).distinct
  })

  private def groupsOf(rows: HashedIndex): Array[Int] = {
    val (hot, cold) = (rows.table.locked(rows.table.groups), rows.cold.groups)
    if (cold.isEmpty) hot else (hot ++ cold).distinct
  }

  override def scanGroup(family: Int, group: Int): RowCursor =
    lock.entered(node.families(family) match {
      case hashed: HashedIndex =>
        val isHere = isGroupHere(hashed.table, group)
        val other = if (isHere) null else privateGroups.scan(family, hashed.table, group)
        renewIfStale()
        if (other != null) other else scanGroups(hashed, Array(group))
      case ordered: OrderedIndex =>
        val run = grouped(ordered).of(group)
        val hot = new RecordRunCursor(tree.records, run, steps(ordered), lock, txn)
        if (lastCold == null) hot else new TieredCursor(hot, lastCold.of(group), lock, txn, null)
    })

  /** The ordered family of the last call. */
  private var lastGrouped: GroupedRecords = _
  private var lastRows: OrderedIndex = _

  /** Its rows that are not in memory; null if there are none. */
  private var lastCold: ColdByGroup = _

  /** The files of those of each call. */
  private var sortedFiles = List.empty[ColdFiles]

  /** Invalidates the cached records of an ordered family. */
  protected def orderedChanged(): Unit = lastRows = null

  private def grouped(rows: OrderedIndex): GroupedRecords = {
    if (lastRows ne rows) {
      lastRows = null
      lastGrouped = new GroupedRecords(tree.records, map.keyGroups)(
        tree.eachNewer(rows.root, ValueSteps.AnyEpoch)
      )
      lastCold = coldByGroup(rows, ValueSteps.AnyEpoch)
      lastRows = rows
    }
    lastGrouped
  }

  /** The rows of cold leaves made after `epoch`, and if that is the base's, only those changed
    * since; null if there is no such leaf.
    */
  protected def coldByGroup(rows: OrderedIndex, epoch: Int): ColdByGroup = {
    var sorted: ColdByGroup = null
    val leaf = tree.newLeaf
    OnFailure(if (sorted != null) sorted.files.close()) {
      tree.eachCold(rows.root, epoch) { at =>
        if (sorted == null) sorted = new ColdByGroup(map.newFiles(), map.keyGroups)
        leaf.start(at)
        while (leaf.next()) {
          val row = leaf.row
          if (epoch == ValueSteps.AnyEpoch || row.isChanged)
            sorted.add(KeyGroups.groupOf(row.hash, map.keyGroups), row)
        }
      }
      if (sorted != null) sorted.finish()
    }
    if (sorted != null) sortedFiles ::= sorted.files
    sorted
  }

  override def release(): Unit = lock.end { isQuiet =>
    lock.shut()
    try
      if (isQuiet) {
        try pin.clean()
        finally sortedFiles.foreach(_.close())
      }
    finally if (privately != null) privately.close()
  }

  /** Must not capture this view, or the view could never be collected. */
  protected def newPin(map: ArenaMap, node: VersionNode): Cleanable = Pin.of(this)(map.unpin(node))
}

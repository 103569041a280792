package io.keyfold.map.arena

import java.lang.ref.Cleaner.Cleanable

import io.keyfold.errors.{Invalid, OutOfOrder}
import io.keyfold.group.KeyGroups
import io.keyfold.map.cold.{ColdSpace, FoundRows}
import io.keyfold.map.cursor.{KeySet, PagePins}
import io.keyfold.map.hash.{HashTable, Sight}
import io.keyfold.map.ordered.{OrderedChanges, TreeCursor}
import io.keyfold.map.version.{
  FamilyIndex,
  GroupTable,
  HashedIndex,
  OpenCursor,
  OrderedIndex,
  Pin,
  VersionNode
}
import io.keyfold.map.{ChangeCursor, LazyRows, MapTxn}
import io.keyfold.mem.Slice
import io.keyfold.mem.arena.{Addresses, Arena}
import io.keyfold.model.{Family, FamilySpec, VersionId}

/** A node of the version tree while it is written. */
private[map] final class ArenaTxn(
    map: ArenaMap,
    arena: Arena,
    cold: ColdSpace,
    room: RoomMaker,
    found: FoundRows,
    base: VersionNode,
    node: VersionNode,
    first: Thread
) extends ArenaView(map, node, arena.addresses, first)
    with MapTxn
    with PagePins {
  private var open = true
  private val baseSight = base.sight
  private var writing = node.sight.until(Int.MaxValue)
  override protected def sight: Sight = writing
  private val writer = new RowWriter(arena, cold, found, node, writing, map.keyGroups, map.hashKey)
  for (rows <- node.hashed) rows.table.open(rows.journal, node.first, isOwn = false)

  /** Each family as it was in the base; null if it is new. */
  private var origins = base.families
  private var droppedFamilies = Vector.empty[String]

  override protected def txn: PagePins = if (open) this else null

  /** Nobody else changes the index meanwhile. */
  override protected def findHashed(table: HashTable, group: Int, hash: Int, key: Slice): Int =
    if (open) table.find(group, hash, key, sight) else super.findHashed(table, group, hash, key)

  override protected def mayChange(record: Int): Boolean = open && writer.records.isOwn(record)

  override def markEscaped(record: Int): Unit = if (open) writer.records.markEscaped(record)

  override def pinPages(): OpenCursor = node.cursors.open(map.endEpoch(node))

  override def unpinPages(cursor: OpenCursor): Unit = if (open) node.cursors.close(cursor, cold)

  override def createFamily(spec: FamilySpec): Int = lock.entered {
    requireOpen("create a family")
    val rows =
      if (spec.ordered) new OrderedIndex(spec, 0)
      else {
        val table = map.newTable()
        val rows = new HashedIndex(spec, table, GroupTable.empty(map.keyGroups))
        table.open(rows.journal, node.first, isOwn = true)
        rows
      }
    node.families = node.families :+ rows
    origins = origins :+ null
    node.families.length - 1
  }

  override def dropFamily(family: Int): Unit = lock.entered {
    requireOpen("drop a family")
    val rows = node.families(family)
    try writer.retireAll(rows)
    catch { case e: Throwable => giveUp(e) }
    if (origins(family) != null) droppedFamilies :+= rows.spec.name
    node.families = node.families.patch(family, Nil, 1)
    origins = origins.patch(family, Nil, 1)
  }

  override def markStrays(family: Int): Unit = lock.entered {
    requireOpen("mark a family")
    val rows = node.families(family)
    rows.spec = rows.spec.copy(strays = true)
  }

  override def dropped: Seq[String] = droppedFamilies

  override def expect(family: Int, rows: Int): Unit = node.families(family) match {
    case hashed: HashedIndex => hashed.table.expect(rows)
    case _: OrderedIndex     => ()
  }

  override def putLater(rows: LazyRows, sizes: IndexedSeq[Family]): Unit = {
    requireOpen("leave rows for later")
    for ((family, size) <- node.families.zip(sizes)) {
      family.keys = size.keys
      family.values = size.values
      family.bytes = size.bytes
    }
    map.putLater(rows)
  }

  private[map] override def loadGroup(table: HashTable, group: Int): Boolean =
    if (!open) super.loadGroup(table, group)
    else {
      try map.fill(table, group)
      catch { case e: Throwable => giveUp(e) }
      true
    }

  /** The same for another view of the task's thread, whose failure ends the transaction; false for
    * other threads.
    */
  def loadGroupFor(table: HashTable, group: Int): Boolean = {
    var isLoaded = false
    // An interrupted thread might fail half way, and end the transaction.
    if (!Thread.currentThread.isInterrupted) {
      lock.lockedIfFirst(if (open) isLoaded = loadGroup(table, group))
    }
    isLoaded
  }

  override protected def newAddresses: Addresses =
    if (open) arena.addresses else super.newAddresses

  /** Before a row is written. */
  private def await(rows: FamilyIndex, hash: Int): Unit = rows match {
    case hashed: HashedIndex if hashed.table.lazyGroups != null =>
      isGroupHere(hashed.table, KeyGroups.groupOf(hash, map.keyGroups))
      ()
    case _ => ()
  }

  override def put(family: Int, hash: Int, key: Slice, value: Slice): Unit =
    if (lock.isMine) write(family, hash, key, value, append = false)
    else lock.locked(write(family, hash, key, value, append = false))

  override def append(family: Int, hash: Int, key: Slice, value: Slice): Unit = {
    val spec = node.families(family).spec
    if (!spec.multiValue) {
      throw new Invalid(
        "KEYFOLD_NOT_MULTI_VALUE",
        s"Cannot append to a row of ${spec.name}: it has one value a key"
      )
    }
    if (lock.isMine) write(family, hash, key, value, append = true)
    else lock.locked(write(family, hash, key, value, append = true))
  }

  private def write(family: Int, hash: Int, key: Slice, value: Slice, append: Boolean): Unit = {
    requireOpen(if (append) "append" else "put")
    val rows = node.families(family)
    await(rows, hash)
    try {
      writer.write(rows, hash, key, value, append)
      spillIfPressed()
    } catch { case e: Throwable => giveUp(e) }
    if (rows.spec.ordered) orderedChanged()
  }

  private def spillIfPressed(): Unit = if (room.isPressed(writer.longest)) {
    room.spill(node)
    writer.longest = 0
    found.close()
    orderedChanged()
  }

  override def remove(family: Int, hash: Int, key: Slice): Boolean =
    if (lock.isMine) removeNow(family, hash, key) else lock.locked(removeNow(family, hash, key))

  private def removeNow(family: Int, hash: Int, key: Slice): Boolean = {
    requireOpen("remove")
    val rows = node.families(family)
    await(rows, hash)
    val isThere =
      try {
        val removed = writer.remove(rows, hash, key)
        spillIfPressed()
        removed
      } catch { case e: Throwable => giveUp(e) }
    if (rows.spec.ordered && isThere) orderedChanged()
    isThere
  }

  override def removeRange(family: Int, start: Slice, end: Slice): Long = lock.entered {
    requireOpen("remove a range")
    val rows = orderedRows(family, "remove")
    val before = rows.keys
    try writer.removeRange(rows, if (start == null) TreeCursor.first else start, end)
    catch { case e: Throwable => giveUp(e) }
    orderedChanged()
    before - rows.keys
  }

  override def isUnchanged: Boolean =
    droppedFamilies.isEmpty && !origins.contains(null) && families.indices.forall { i =>
      node.families(i).spec == origins(i).spec && changedGroups(i).isEmpty
    }

  /** An index may be half changed: it must not be walked again, not even to read or to free it. */
  private def giveUp(cause: Throwable): Nothing = {
    open = false
    lock.end(_ => lock.shut())
    map.giveUp()
    throw cause
  }

  override def changedGroups(family: Int): Array[Int] = lock.entered {
    requireOpen("tell the changes")
    node.families(family) match {
      case hashed: HashedIndex   => changesOf(family, hashed).groups
      case ordered: OrderedIndex => changesOf(family, ordered).groups
    }
  }

  override def changes(family: Int, group: Int): ChangeCursor = lock.entered {
    requireOpen("tell the changes")
    node.families(family) match {
      case hashed: HashedIndex   => changesOf(family, hashed).cursor(group)
      case ordered: OrderedIndex =>
        val changes = changesOf(family, ordered)
        val changed = changes.cursor(group, lock)
        if (changes.spilled == null) changed
        else new SpilledChanges(changed, changes.spilled.of(group), lock)
    }
  }

  /** The changes of the hashed family of the last call. */
  private var lastHashed: HashedChanges = _

  private def changesOf(family: Int, rows: HashedIndex): HashedChanges = {
    if (lastHashed == null || !lastHashed.areOf(rows)) {
      lastHashed = new HashedChanges(
        records.addresses,
        cold,
        rows,
        sight,
        base,
        keysOfBase(family),
        coldOfBase(family),
        map.keyGroups,
        lock
      )
    }
    lastHashed
  }

  private def keysOfBase(family: Int): KeySet = origins(family) match {
    case null                => (_, _) => false
    case hashed: HashedIndex =>
      (hash, key) => {
        val group = KeyGroups.groupOf(hash, map.keyGroups)
        val record = hashed.table.find(group, map.hashKey.hash(key), key, baseSight)
        if (record == 0) findCold(hashed, hash, key) != null else record != HashTable.Removed
      }
    case ordered: OrderedIndex => (_, key) => tree.contains(ordered.root, key)
  }

  private lazy val noRoots = GroupTable.empty(map.keyGroups)

  private def coldOfBase(family: Int): GroupTable =
    origins(family) match {
      case hashed: HashedIndex => hashed.cold
      case _                   => noRoots
    }

  override protected def orderedChanged(): Unit = {
    super.orderedChanged()
    lastChanges = null
  }

  /** The changes of the ordered family of the last call. */
  private var lastChanges: OrderedChanges = _

  private def changesOf(family: Int, rows: OrderedIndex): OrderedChanges = {
    if (lastChanges == null || (lastChanges.rows ne rows)) {
      lastChanges = new OrderedChanges(
        tree,
        rows,
        base.epoch,
        keysOfBase(family),
        map.keyGroups,
        coldByGroup(rows, base.epoch)
      )
    }
    lastChanges
  }

  override def commit(version: VersionId): Unit = lock.entered {
    requireOpen(s"commit version $version")
    map.committed(node, version)
    end()
  }

  /** If its thread may be in the middle of a change, the map is closed too. */
  override def abort(): Unit = lock.end { isQuiet =>
    if (open && isQuiet) {
      map.ended()
      end()
    } else if (open) {
      open = false
      map.giveUp()
    }
  }

  private def requireOpen(what: String): Unit =
    if (!open) throw new OutOfOrder(s"Cannot $what: the transaction has ended")

  /** From now on another transaction may write to the arena. */
  private def end(): Unit = {
    open = false
    writing = node.sight
    renew()
  }

  /** Aborts unless committed, and releases all rows that were handed out. */
  override def release(): Unit = {
    abort()
    super.release()
  }

  override protected def newPin(map: ArenaMap, node: VersionNode): Cleanable = {
    val base = node.base
    Pin.of(this)(map.released(node, base))
  }
}

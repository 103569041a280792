package io.keyfold.map

import io.keyfold.errors.{OutOfMemory, OutOfOrder}
import io.keyfold.format.{FamilySpec, VersionId}
import io.keyfold.group.KeyGroups
import io.keyfold.mem.{Arena, Slice}

/** A node of the version tree while it is written. */
private[map] final class ArenaTxn(map: ArenaMap, arena: Arena, base: VersionNode, node: VersionNode)
    extends ArenaView(map, node, arena.addresses)
    with MapTxn {
  private val pages = new PageSpace(arena, node)
  private val tries = new TrieWriter(pages)
  private val trees = new TreeWriter(pages)
  private val records = tries.records
  private val found = new Slice
  private var open = true

  override protected def txn: ArenaTxn = if (open) this else null

  override protected def handedOut(record: Int): Unit = if (open) show(record)

  /** The record's bytes stay from now on: somebody has them. */
  def show(record: Int): Unit = records.show(record, node.epoch)

  /** Pages as they are now stay until [[letPagesGo]]: a cursor goes over them. */
  def keepPages(): Unit = {
    map.nextEpoch(node)
    pages.cursors += 1
  }

  def letPagesGo(): Unit = {
    pages.cursors -= 1
    if (open) pages.freeUnused()
  }

  override def createFamily(spec: FamilySpec): Int = {
    requireOpen("create a family")
    val rows =
      if (spec.ordered) new OrderedRows(spec, 0)
      else new HashedRows(spec, GroupTable.empty(map.keyGroups))
    node.families = node.families :+ rows
    node.families.length - 1
  }

  override def put(family: Int, hash: Int, key: Slice, value: Slice): Unit = {
    requireOpen("put")
    try
      node.families(family) match {
        case hashed: HashedRows   => putHashed(hashed, hash, key, value)
        case ordered: OrderedRows => putOrdered(ordered, hash, key, value)
      }
    catch { case e: OutOfMemory => giveUp(e) }
  }

  private def putHashed(rows: HashedRows, hash: Int, key: Slice, value: Slice): Unit = {
    val group = KeyGroups.groupOf(hash, map.keyGroups)
    val indexHash = HashTrie.hash(key)
    val root = rows.roots(group)
    val before = tries.find(root, indexHash, key)
    if (before == 0) {
      val record = newRecord(hash, key, value)
      setRoot(rows, group, root, tries.insert(root, indexHash, record))
      countNew(rows, key, value)
    } else if (!overwritten(rows, before, key, value)) {
      val record = newRecord(hash, key, value)
      setRoot(rows, group, root, tries.replace(root, indexHash, before, record))
      retire(rows, before)
    }
  }

  private def putOrdered(rows: OrderedRows, hash: Int, key: Slice, value: Slice): Unit = {
    val before = trees.find(rows.root, key)
    if (before == 0) {
      rows.root = trees.insert(rows.root, key, newRecord(hash, key, value))
      countNew(rows, key, value)
    } else if (!overwritten(rows, before, key, value)) {
      rows.root = trees.replace(rows.root, key, newRecord(hash, key, value))
      retire(rows, before)
    }
    orderedChanged()
  }

  /** @return whether it could be done in place; counts the bytes in either case */
  private def overwritten(rows: FamilyRows, record: Int, key: Slice, value: Slice): Boolean = {
    val length = records.value(record, found).length
    rows.bytes += value.length - length
    val inPlace = records.isPrivate(record, node.epoch) &&
      arena.sizeClass(Records.size(key.length, length)) ==
      arena.sizeClass(Records.size(key.length, value.length))
    if (inPlace) records.overwrite(record, value)
    inPlace
  }

  override def remove(family: Int, hash: Int, key: Slice): Boolean = {
    requireOpen("remove")
    val rows = node.families(family)
    val record =
      try
        rows match {
          case hashed: HashedRows   => removeHashed(hashed, hash, key)
          case ordered: OrderedRows => removeOrdered(ordered, key)
        }
      catch { case e: OutOfMemory => giveUp(e) }
    if (record != 0) {
      rows.keys -= 1
      rows.bytes -= records.bytes(record)
      retire(rows, record)
    }
    record != 0
  }

  private def removeHashed(rows: HashedRows, hash: Int, key: Slice): Int = {
    val group = KeyGroups.groupOf(hash, map.keyGroups)
    val indexHash = HashTrie.hash(key)
    val root = rows.roots(group)
    val record = tries.find(root, indexHash, key)
    if (record != 0) {
      setRoot(rows, group, root, tries.remove(root, indexHash, record))
      rows.anyRemoved = true
    }
    record
  }

  private def removeOrdered(rows: OrderedRows, key: Slice): Int = {
    val record = trees.find(rows.root, key)
    if (record != 0) {
      rows.root = trees.remove(rows.root, key)
      orderedChanged()
    }
    record
  }

  /** An index may be half changed: nobody must go over it again, not even to free it. */
  private def giveUp(e: OutOfMemory): Nothing = {
    open = false
    map.fail(e)
  }

  private def newRecord(hash: Int, key: Slice, value: Slice): Int = {
    val record = arena.allocate(Records.size(key.length, value.length))
    records.write(record, node.epoch, hash, key, value)
    record
  }

  private def setRoot(rows: HashedRows, group: Int, before: Int, after: Int): Unit =
    if (after != before) rows.roots(group) = after

  private def countNew(rows: FamilyRows, key: Slice, value: Slice): Unit = {
    rows.keys += 1
    rows.bytes += key.length + value.length
  }

  private def retire(rows: FamilyRows, record: Int): Unit =
    if (records.isPrivate(record, node.epoch)) arena.free(record)
    else {
      node.retired.addRecord(record)
      rows match {
        case ordered: OrderedRows if records.epoch(record) <= base.epoch => ordered.gone.add(record)
        case _                                                           => ()
      }
    }

  override def changedGroups(family: Int): Array[Int] = node.families(family) match {
    case hashed: HashedRows   => hashed.roots.differing(rootsOfBase(family))
    case ordered: OrderedRows => changesOf(ordered).groups
  }

  override def changes(family: Int, group: Int): ChangeCursor = node.families(family) match {
    case hashed: HashedRows =>
      changed.reset()
      val gone = if (hashed.anyRemoved) changed.gone else null
      trie.diff(rootsOfBase(family)(group), hashed.roots(group), changed.put, gone)
      records.touch(changed.put)
      records.touch(changed.gone)
      changed
    case ordered: OrderedRows => changesOf(ordered).cursor(group, this)
  }

  private lazy val changed = new ListCursor(records, new IntList, new IntList, this)

  private lazy val noRoots = GroupTable.empty(map.keyGroups)

  private def rootsOfBase(family: Int): GroupTable =
    if (family >= base.families.length) noRoots
    else base.families(family).asInstanceOf[HashedRows].roots

  override protected def orderedChanged(): Unit = {
    super.orderedChanged()
    lastChanges = null
  }

  /** Of the ordered family that was asked for last. */
  private var lastChanges: OrderedChanges = _

  private def changesOf(rows: OrderedRows): OrderedChanges = {
    if (lastChanges == null || (lastChanges.rows ne rows)) {
      lastChanges = new OrderedChanges(tree, rows, base.epoch, map.keyGroups)
    }
    lastChanges
  }

  override def commit(version: VersionId): Unit = {
    requireOpen(s"commit version $version")
    map.committed(node, version)
    end()
  }

  override def abort(): Unit = if (open) {
    map.ended()
    end()
  }

  private def requireOpen(what: String): Unit =
    if (!open) throw new OutOfOrder(s"Cannot $what: the transaction has ended")

  /** Another transaction may write to the arena from now on. */
  private def end(): Unit = {
    open = false
    val addresses = map.readerAddresses()
    trie = new HashTrie(addresses)
    tree = new OrderedTree(addresses)
  }

  /** Gives the rows up, if they were not committed, and every row that was handed out. */
  override def release(): Unit = {
    abort()
    super.release()
  }

  override protected def newPin(map: ArenaMap, node: VersionNode): Pin = {
    val base = node.base
    Pin.of(this)(map.released(node, base))
  }
}

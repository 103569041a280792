package io.keyfold.map

import io.keyfold.errors.Invalid
import io.keyfold.format.Family
import io.keyfold.group.KeyGroups
import io.keyfold.mem.{Addresses, Slice}

/** The rows of a node of the version tree. */
private[map] class ArenaView(map: ArenaMap, node: VersionNode, addresses: Addresses)
    extends MapView {
  protected var trie = new HashTrie(addresses)
  protected var tree = new OrderedTree(addresses)
  private val pin = newPin(map, node)

  /** The transaction that it is, while that is open. */
  protected def txn: ArenaTxn = null

  override def families: IndexedSeq[Family] = node.families.map(_.family).toIndexedSeq
  override def familyIndex(name: String): Int = node.families.indexWhere(_.spec.name == name)

  override def get(family: Int, hash: Int, key: Slice, value: Slice): Boolean = {
    val record = find(node.families(family), hash, key)
    record != 0 && {
      trie.records.value(record, value)
      handedOut(record)
      true
    }
  }

  /** Somebody has the record's bytes. */
  protected def handedOut(record: Int): Unit = ()

  private def find(rows: FamilyRows, hash: Int, key: Slice): Int = rows match {
    case hashed: HashedRows =>
      trie.find(hashed.roots(KeyGroups.groupOf(hash, map.keyGroups)), HashTrie.hash(key), key)
    case ordered: OrderedRows => tree.find(ordered.root, key)
  }

  override def scan(family: Int): RowCursor = node.families(family) match {
    case hashed: HashedRows   => new HashCursor(trie, hashed.roots, hashed.roots.groups, this, txn)
    case ordered: OrderedRows => new TreeCursor(tree, ordered.root, Array.emptyByteArray, this, txn)
  }

  override def scanPrefix(family: Int, prefix: Slice): RowCursor = node.families(family) match {
    case ordered: OrderedRows => new TreeCursor(tree, ordered.root, prefix.toArray, this, txn)
    case hashed: HashedRows   =>
      val name = hashed.spec.name
      throw new Invalid("KEYFOLD_NOT_ORDERED", s"Cannot prefix-scan $name: it is not ordered")
  }

  override def groups(family: Int): Array[Int] = node.families(family) match {
    case hashed: HashedRows   => hashed.roots.groups
    case ordered: OrderedRows => grouped(ordered).groups
  }

  override def scanGroup(family: Int, group: Int): RowCursor = node.families(family) match {
    case hashed: HashedRows   => new HashCursor(trie, hashed.roots, Array(group), this, txn)
    case ordered: OrderedRows =>
      val list = new IntList
      grouped(ordered).addTo(list, group)
      for (i <- 0 until list.size) handedOut(list(i))
      new ListCursor(tree.records, list, new IntList, this)
  }

  /** Of the ordered family that was asked for last. */
  private var lastGrouped: GroupedRecords = _
  private var lastRows: OrderedRows = _

  /** What was found out of an ordered family holds no longer. */
  protected def orderedChanged(): Unit = lastRows = null

  private def grouped(rows: OrderedRows): GroupedRecords = {
    if (lastRows ne rows) {
      val list = new IntList
      tree.collectAll(rows.root, list)
      lastGrouped = new GroupedRecords(tree.records, list, map.keyGroups)
      lastRows = rows
    }
    lastGrouped
  }

  override def release(): Unit = pin.run()

  /** Not a closure over this view, which could never be collected then. */
  protected def newPin(map: ArenaMap, node: VersionNode): Pin = Pin.of(this)(map.unpin(node))
}

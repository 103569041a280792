package io.keyfold.map.arena

import io.keyfold.group.KeyGroups
import io.keyfold.map.hash.{HashKey, TrieWriter}
import io.keyfold.map.ordered.TreeWriter
import io.keyfold.map.value.IntList
import io.keyfold.map.version.{
  FamilyIndex,
  HashedIndex,
  OrderedIndex,
  PageSpace,
  RecordSpace,
  VersionNode
}
import io.keyfold.mem.Slice
import io.keyfold.mem.arena.Arena

/** Writes the rows of a transaction: their records and the index entries. */
private[map] final class RowWriter(
    arena: Arena,
    node: VersionNode,
    keyGroups: Int,
    hashKey: HashKey
) {
  val pages = new PageSpace(arena, node)
  val records = new RecordSpace(arena, node)
  private val tries = new TrieWriter(pages)
  private val trees = new TreeWriter(pages)
  private val batch = new IntList
  private val found = new Slice

  /** Puts a value, or appends it to those of the key. */
  def write(rows: FamilyIndex, hash: Int, key: Slice, value: Slice, append: Boolean): Unit =
    rows match {
      case hashed: HashedIndex   => writeHashed(hashed, hash, key, value, append)
      case ordered: OrderedIndex => writeOrdered(ordered, hash, key, value, append)
    }

  private def writeHashed(
      rows: HashedIndex,
      hash: Int,
      key: Slice,
      value: Slice,
      append: Boolean
  ): Unit = {
    val group = KeyGroups.groupOf(hash, keyGroups)
    val indexHash = hashKey.hash(key)
    val root = rows.roots(group)
    val before = tries.find(root, indexHash, key)
    val after = records.write(rows, before, hash, key, value, append)
    if (before == 0) setRoot(rows, group, root, tries.insert(root, indexHash, after))
    else if (after != before) {
      setRoot(rows, group, root, tries.replace(root, indexHash, before, after))
      records.retire(rows, before, valuesStay = append)
    }
  }

  private def writeOrdered(
      rows: OrderedIndex,
      hash: Int,
      key: Slice,
      value: Slice,
      append: Boolean
  ): Unit = {
    val before = trees.find(rows.root, key)
    val after = records.write(rows, before, hash, key, value, append)
    if (before == 0) rows.root = trees.insert(rows.root, key, after)
    else if (after != before) {
      rows.root = trees.replace(rows.root, key, after)
      records.retire(rows, before, valuesStay = append)
    }
  }

  /** @return whether the key was there */
  def remove(rows: FamilyIndex, hash: Int, key: Slice): Boolean = {
    val record = rows match {
      case hashed: HashedIndex   => removeHashed(hashed, hash, key)
      case ordered: OrderedIndex => removeOrdered(ordered, key)
    }
    if (record != 0) records.remove(rows, record)
    record != 0
  }

  private def removeHashed(rows: HashedIndex, hash: Int, key: Slice): Int = {
    val group = KeyGroups.groupOf(hash, keyGroups)
    val indexHash = hashKey.hash(key)
    val root = rows.roots(group)
    val record = tries.find(root, indexHash, key)
    if (record != 0) {
      setRoot(rows, group, root, tries.remove(root, indexHash, record))
      rows.anyRemoved = true
    }
    record
  }

  private def removeOrdered(rows: OrderedIndex, key: Slice): Int = {
    val record = trees.find(rows.root, key)
    if (record != 0) rows.root = trees.remove(rows.root, key)
    record
  }

  /** Removes rows leaf by leaf, those with `from <= key < until`; null: to the last. */
  def removeRange(rows: OrderedIndex, from: Slice, until: Slice): Unit =
    while (findInRange(rows, from, until)) {
      var i = 0
      while (i < batch.size) {
        rows.root = trees.remove(rows.root, trees.records.key(batch(i), found))
        records.remove(rows, batch(i))
        i += 1
      }
    }

  /** Retires all rows of a dropped family. */
  def retireAll(rows: FamilyIndex): Unit = {
    val retire = records.retire(rows, _: Int, valuesStay = false)
    rows match {
      case hashed: HashedIndex =>
        hashed.roots.groups.foreach(group => tries.retireAll(hashed.roots(group))(retire))
      case ordered: OrderedIndex => trees.retireAll(ordered.root)(retire)
    }
  }

  private def findInRange(rows: OrderedIndex, from: Slice, until: Slice) = {
    batch.clear()
    trees.collect(rows.root, from, behind = false, until, batch)
    batch.size > 0
  }

  private def setRoot(rows: HashedIndex, group: Int, before: Int, after: Int): Unit =
    if (after != before) rows.roots(group) = after
}

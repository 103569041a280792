package io.keyfold.map.arena

import io.keyfold.group.KeyGroups
import io.keyfold.map.cold.{ColdRuns, ColdSpace, FoundRows}
import io.keyfold.map.hash.{HashKey, TrieWriter}
import io.keyfold.map.ordered.TreeWriter
import io.keyfold.map.value.IntList
import io.keyfold.map.version.{
  FamilyIndex,
  HashedIndex,
  OrderedIndex,
  PageSpace,
  RecordSpace,
  RunSpace,
  VersionNode
}
import io.keyfold.mem.Slice
import io.keyfold.mem.arena.Arena

/** Writes the rows of a transaction: their records and the index entries. */
private[map] final class RowWriter(
    arena: Arena,
    cold: ColdSpace,
    foundRows: FoundRows,
    node: VersionNode,
    keyGroups: Int,
    hashKey: HashKey
) {
  val pages = new PageSpace(arena, node)
  val records = new RecordSpace(arena, node)
  private val tries = new TrieWriter(pages)
  private val trees = new TreeWriter(pages)
  private val runs = new ColdRuns(arena.addresses, cold.files)
  private val runSpace = new RunSpace(cold, node)
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
    if (before == 0) {
      val newest = rows.cold(group)
      val kept = if (newest == 0) 0 else takeCold(rows, newest, indexHash, key, append)
      val after = records.write(rows, kept, hash, key, value, append)
      if (after != kept && kept != 0) records.retire(rows, kept, valuesStay = append)
      setRoot(rows, group, root, tries.insert(root, indexHash, after))
    } else {
      val after = records.write(rows, before, hash, key, value, append)
      if (after != before) {
        setRoot(rows, group, root, tries.replace(root, indexHash, before, after))
        records.retire(rows, before, valuesStay = append)
      }
    }
  }

  /** If a run has the row of a key that is about to be written, subtracts it or, if its values
    * stay, takes it into memory.
    *
    * @return
    *   the record of what stays, not yet in the index; 0 if nothing does
    */
  private def takeCold(
      rows: HashedIndex,
      newest: Int,
      indexHash: Int,
      key: Slice,
      append: Boolean
  ): Int = {
    val known = if (append) -1 else foundRows.valueBytes(rows.number, hashKey.longHash(key))
    val row = if (known < 0) runs.find(newest, indexHash, key) else null
    if (known >= 0) {
      records.subtract(rows, key.length, values = 1, known.toLong)
      0
    } else if (row == null) 0
    else if (append)
      records.take(row, key, ofBase = !(row.isChanged && runs.epoch > node.base.epoch))
    else {
      records.subtract(rows, row.keyLength, row.values, row.valueBytes)
      0
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
  def remove(rows: FamilyIndex, hash: Int, key: Slice): Boolean = rows match {
    case hashed: HashedIndex   => removeHashed(hashed, hash, key)
    case ordered: OrderedIndex => removeOrdered(ordered, key)
  }

  private def removeHashed(rows: HashedIndex, hash: Int, key: Slice): Boolean = {
    val group = KeyGroups.groupOf(hash, keyGroups)
    val indexHash = hashKey.hash(key)
    val root = rows.roots(group)
    val newest = rows.cold(group)
    val record = tries.find(root, indexHash, key)
    val isThere =
      if (record != 0) !records.isRemoved(record)
      else newest != 0 && subtractCold(rows, newest, indexHash, key)
    if (isThere) {
      rows.anyRemoved = true
      val removed =
        if (record != 0 && !needsMark(newest, indexHash)) {
          tries.remove(root, indexHash, record)
        } else {
          val mark = records.writeRemoved(hash, key)
          if (record == 0) tries.insert(root, indexHash, mark)
          else tries.replace(root, indexHash, record, mark)
        }
      setRoot(rows, group, root, removed)
      if (record != 0) records.remove(rows, record)
    }
    isThere
  }

  /** Whether a record must say that a row was removed: a run may have the row, or the changes of
    * the group are told by its records, see [[Evictor.spill]].
    */
  private def needsMark(newest: Int, indexHash: Int) =
    newest != 0 && (runSpace.isOwn(newest) || runs.mayHave(newest, indexHash))

  private def subtractCold(rows: HashedIndex, newest: Int, indexHash: Int, key: Slice): Boolean = {
    val row = runs.find(newest, indexHash, key)
    if (row != null) records.subtract(rows, row.keyLength, row.values, row.valueBytes)
    row != null
  }

  private def removeOrdered(rows: OrderedIndex, key: Slice): Boolean = {
    val record = trees.find(rows.root, key)
    if (record != 0) {
      rows.root = trees.remove(rows.root, key)
      records.remove(rows, record)
    }
    record != 0
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
        hashed.cold.groups.foreach(group => cold.list(hashed.cold(group)).foreach(runSpace.retire))
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

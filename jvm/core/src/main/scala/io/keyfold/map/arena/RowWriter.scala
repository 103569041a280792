package io.keyfold.map.arena

import io.keyfold.group.KeyGroups
import io.keyfold.map.cold.{ColdRuns, ColdSpace, FoundRows}
import io.keyfold.map.hash.{HashKey, Sight}
import io.keyfold.map.ordered.TreeWriter
import io.keyfold.map.value.{IntList, Records}
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
    cold: ColdSpace,
    foundRows: FoundRows,
    node: VersionNode,
    sight: Sight,
    keyGroups: Int,
    hashKey: HashKey
) {
  val records = new RecordSpace(arena, node)
  private val reader = new Records(arena.addresses)
  private val trees = new TreeWriter(new PageSpace(cold, node), records)
  private val runs = new ColdRuns(arena.addresses, cold.files)
  private val batch = new IntList
  private val found = new Slice

  /** Bytes of the longest list or leaf that came back from a file since the transaction last moved
    * rows there.
    */
  var longest = 0L

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
    val newest = rows.table.newest(group, indexHash, key)
    val before = rows.table.seenInMemory(newest, sight)
    val cold = if (before != 0) 0 else rows.cold(group)
    val taken = if (cold == 0) 0 else takeCold(rows, cold, indexHash, hash, key, append)
    val start = if (before != 0) before else taken
    val after = records.write(rows, start, hash, key, value, append)
    if (after != before) {
      if (taken != 0 && after != taken) arena.free(taken)
      if (before != 0 && !append) records.retireValues(rows, before)
      place(rows, group, indexHash, newest, after)
    }
  }

  /** Puts a record at the place of the newest one of its key. */
  private def place(rows: HashedIndex, group: Int, indexHash: Int, newest: Int, record: Int): Unit =
    if (records.isPrivate(newest)) {
      rows.table.replace(group, indexHash, newest, record)
      arena.free(newest)
    } else rows.table.put(group, indexHash, newest, record)

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
      hash: Int,
      key: Slice,
      append: Boolean
  ): Int = {
    val known = if (append) -1 else foundRows.valueBytes(rows.table.number, hashKey.longHash(key))
    val row = if (known < 0) runs.find(newest, indexHash, hash, key) else null
    if (known >= 0) {
      records.subtract(rows, key.length, values = 1, known.toLong)
      0
    } else if (row == null) 0
    else if (append) {
      val ofBase = !(row.isChanged && runs.epoch > node.base.epoch)
      bringingBack(records.take(row, key, ofBase))
    } else {
      records.subtract(rows, row.keyLength, row.values, row.valueBytes)
      0
    }
  }

  /** Notes how much memory is taken by what it calls. */
  private def bringingBack(take: => Int): Int = {
    val before = arena.liveBytes
    val taken = take
    longest = math.max(longest, arena.liveBytes - before)
    taken
  }

  private def writeOrdered(
      rows: OrderedIndex,
      hash: Int,
      key: Slice,
      value: Slice,
      append: Boolean
  ): Unit = {
    val before = findWarm(rows, key)
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
    val newest = rows.table.newest(group, indexHash, key)
    val before = rows.table.seenInMemory(newest, sight)
    val isThere =
      if (before != 0) reader.isRow(before)
      else rows.cold(group) != 0 && subtractCold(rows, rows.cold(group), indexHash, hash, key)
    if (isThere) {
      if (before != 0) {
        records.subtract(rows, before)
        records.retireValues(rows, before)
      }
      if (records.isPrivate(newest) && rows.table.before(newest) == 0 && rows.cold(group) == 0) {
        rows.table.remove(group, indexHash, newest)
        arena.free(newest)
      } else place(rows, group, indexHash, newest, records.writeMark(hash, key, Records.Removed))
    }
    isThere
  }

  private def subtractCold(
      rows: HashedIndex,
      newest: Int,
      indexHash: Int,
      hash: Int,
      key: Slice
  ): Boolean = {
    val row = runs.find(newest, indexHash, hash, key)
    if (row != null) records.subtract(rows, row.keyLength, row.values, row.valueBytes)
    row != null
  }

  private def removeOrdered(rows: OrderedIndex, key: Slice): Boolean = {
    val warm = trees.find(rows.root, key)
    val record = if (trees.findCold(key) == null) warm else findWarm(rows, key)
    if (record != 0) {
      rows.root = trees.remove(rows.root, key)
      removed(rows, record)
    }
    record != 0
  }

  /** The record of a key, or 0, once the leaf where it is, or would be, is in memory. */
  private def findWarm(rows: OrderedIndex, key: Slice): Int = {
    val record = trees.find(rows.root, key)
    if (!trees.isAtCold) record
    else {
      rows.root = bringingBack(trees.takeBack(rows.root, key))
      trees.find(rows.root, key)
    }
  }

  private def removed(rows: OrderedIndex, record: Int): Unit = {
    records.subtract(rows, record)
    records.retire(rows, record, valuesStay = false)
  }

  /** Removes rows leaf by leaf, those with `from <= key < until`; null: to the last. */
  def removeRange(rows: OrderedIndex, from: Slice, until: Slice): Unit =
    while (findInRange(rows, from, until)) {
      var i = 0
      while (i < batch.size) {
        rows.root = trees.remove(rows.root, trees.records.key(batch(i), found))
        removed(rows, batch(i))
        i += 1
      }
    }

  /** Retires all rows of a dropped family. */
  def retireAll(rows: FamilyIndex): Unit = rows match {
    case hashed: HashedIndex   => node.dropped ::= hashed
    case ordered: OrderedIndex =>
      trees.retireAll(ordered.root)(records.retire(ordered, _, valuesStay = false))
  }

  private def findInRange(rows: OrderedIndex, from: Slice, until: Slice) = {
    batch.clear()
    trees.collect(rows.root, from, behind = false, until, batch)
    if (trees.collected != null) {
      trees.collected.next()
      rows.root = trees.takeBack(rows.root, trees.collected.row.key(found))
      trees.collect(rows.root, from, behind = false, until, batch)
    }
    batch.size > 0
  }
}

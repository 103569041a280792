package io.keyfold.map.hash

import java.util.Arrays

import io.keyfold.map.value.{GroupedRecords, IntList, Records}

/** What a transaction has written to a hash table: for each key its newest record, with its key
  * group and the record that it was put before. Later it tells what can be freed, or taken back.
  * Takes 12 bytes of heap for each.
  *
  * Only who may write to the arena changes it, with the lock of the index.
  */
private[map] final class Journal {
  private val records = new IntList
  private val befores = new IntList
  private val groups = new IntList
  private val lists = Seq(records, befores, groups)

  /** Indices of records that were taken away. */
  private val free = new IntList

  def size: Int = records.size

  /** Grows with each change. */
  var changes = 0

  /** A record; 0 if it is gone, or the transaction has put another before it. */
  def record(i: Int): Int = records(i)
  def before(i: Int): Int = befores(i)

  /** @return its index */
  def add(record: Int, before: Int, group: Int): Int = {
    changes += 1
    if (free.size == 0) {
      records.add(record)
      befores.add(before)
      groups.add(group)
      records.size - 1
    } else {
      val i = free.removeLast()
      records(i) = record
      befores(i) = before
      groups(i) = group
      i
    }
  }

  /** A record is gone, and nothing was before it. */
  def remove(i: Int): Unit = {
    replace(i, 0)
    free.add(i)
  }

  def replace(i: Int, record: Int): Unit = {
    records(i) = record
    changes += 1
  }

  /** Takes records out of it. */
  def removeAll(gone: IntList): Unit = if (gone.size > 0) {
    val sorted = gone.toArray
    Arrays.sort(sorted)
    var kept = 0
    var i = 0
    while (i < records.size) {
      if (records(i) != 0 && Arrays.binarySearch(sorted, records(i)) < 0) {
        records(kept) = records(i)
        befores(kept) = befores(i)
        groups(kept) = groups(i)
        kept += 1
      }
      i += 1
    }
    lists.foreach(_.cutTo(kept))
    free.clear()
  }

  def touch(reader: Records, from: Int, until: Int): Unit = reader.touch(records, from, until)

  /** Puts what an earlier transaction has written first. */
  def addBefore(earlier: Journal): Unit = if (earlier.size > 0) {
    for (i <- lists.indices) lists(i).addFirst(earlier.lists(i))
    free.clear()
  }

  def clear(): Unit = {
    lists.foreach(_.clear())
    free.clear()
  }

  /** @param keyGroups
    *   G
    */
  def byGroup(keyGroups: Int): GroupedRecords = new GroupedRecords(keyGroups)(use => {
    var i = 0
    while (i < records.size) {
      if (records(i) != 0) use(groups(i), records(i))
      i += 1
    }
  })
}

package io.keyfold.map.hash

import io.keyfold.group.KeyGroups
import io.keyfold.map.value.IntList
import io.keyfold.mem.Slice
import io.keyfold.mem.arena.Arena

/** Frees the records of a [[HashTable]] that no version needs. Only while no transaction is open,
  * by who may write to the arena; it holds the lock for some records at a time.
  */
private[map] final class Reclaimer(
    table: HashTable,
    arena: Arena,
    keyGroups: Int,
    hashKey: HashKey
) {
  import HashPages.recordOf
  import HashTable.AtOnce

  private val records = table.records
  private val key = new Slice

  /** Frees what the records of a journal were put before: no version needs it; and those that say
    * that a row was removed or moved, where nothing is left to hide.
    *
    * @param hides
    *   whether the removal of a row in a group with this hash must still be told
    */
  def truncate(written: Journal)(hides: (Int, Int) => Boolean): Unit = {
    var i = 0
    while (i < written.size) {
      val end = math.min(i + AtOnce, written.size)
      table.locked(truncate(written, i, end, hides))
      i = end
    }
    written.clear()
  }

  /** Frees what a version that is merged into the next one has written, where that has written too:
    * nobody sees it any more.
    *
    * @param later
    *   the journal of the next version
    * @param hides
    *   as for [[truncate]]
    */
  def merge(earlier: Journal, epochs: Epochs, later: Journal)(
      hides: (Int, Int) => Boolean
  ): Unit = {
    val gone = new IntList
    var i = 0
    while (i < later.size) {
      if (i % AtOnce == 0) later.touch(records, i, math.min(i + AtOnce, later.size))
      val record = later.record(i)
      if (record != 0 && records.link(record) != 0) table.locked {
        records.setLink(record, freeWritten(records.link(record), epochs, gone))
        if (records.link(record) == 0 && dropMark(record, hides)) later.replace(i, 0)
      }
      i += 1
    }
    earlier.removeAll(gone)
  }

  /** Frees the first records of a chain, those that were written in some epochs. Their values are
    * those of the record above too, or retired.
    *
    * @return
    *   the rest of the chain
    */
  private def freeWritten(newest: Int, epochs: Epochs, gone: IntList): Int = {
    var record = newest
    while (record != 0 && epochs.contains(records.epoch(record))) {
      val next = records.link(record)
      gone.add(record)
      arena.free(record)
      record = next
    }
    record
  }

  private val befores = new IntList

  private def truncate(
      written: Journal,
      from: Int,
      until: Int,
      hides: (Int, Int) => Boolean
  ): Unit = {
    // In two steps, so that the processor fetches several records at once.
    befores.clear()
    var i = from
    while (i < until) {
      val record = written.record(i)
      befores.add(if (record == 0) 0 else records.link(record))
      i += 1
    }
    records.touch(befores)
    i = from
    while (i < until) {
      val record = written.record(i)
      if (record != 0) {
        // One that was read before may be gone: it can be a mark that was dropped.
        freeChain(records.link(record))
        records.setLink(record, 0)
        dropMark(record, hides)
      }
      i += 1
    }
  }

  private def freeChain(newest: Int): Unit = {
    var record = newest
    while (record != 0) {
      val next = records.link(record)
      arena.free(record)
      record = next
    }
  }

  /** Frees a record that says that a row was removed or moved, if it hides nothing.
    *
    * @return
    *   whether it is free
    */
  private def dropMark(record: Int, hides: (Int, Int) => Boolean): Boolean =
    !records.isRow(record) && {
      val hash = hashKey.hash(records.key(record, key))
      val group = groupOf(record)
      val isIdle = records.isMoved(record) || !hides(group, hash)
      if (isIdle) {
        unlink(group, hash, record, 0)
        arena.free(record)
      }
      isIdle
    }

  private def groupOf(record: Int) = KeyGroups.groupOf(records.hash(record), keyGroups)

  /** Takes a record out of its chain.
    *
    * @param next
    *   the record that follows it from now on
    */
  private def unlink(group: Int, hash: Int, record: Int, next: Int): Unit = {
    val newest = table.newest(group, hash, records.key(record, key))
    if (newest != record) {
      var above = newest
      while (records.link(above) != record) above = records.link(above)
      records.setLink(above, next)
    } else if (next == 0) table.removeEntry(group, hash, record)
    else table.tree.replace(table.root(group), hash, record, next)
  }

  /** Takes back what was written in some epochs.
    *
    * @param written
    *   the journal of these epochs
    * @param free
    *   frees a record with its values
    */
  def undo(written: Journal, epochs: Epochs)(free: Int => Unit): Unit = {
    // The oldest first: what is left below is no other entry's.
    var i = 0
    while (i < written.size) {
      if (written.record(i) != 0) table.locked(undo(written.record(i), epochs, free))
      i += 1
    }
    written.clear()
  }

  private def undo(record: Int, epochs: Epochs, free: Int => Unit): Unit = {
    val hash = hashKey.hash(records.key(record, key))
    val group = groupOf(record)
    val newest = table.newest(group, hash, key)
    val next = freeWritten(records.link(record), epochs, new IntList)
    val isReplaced = isWrittenAbove(newest, record, epochs)
    unlink(group, hash, record, next)
    if (isReplaced) arena.free(record) else free(record)
  }

  private def isWrittenAbove(newest: Int, record: Int, epochs: Epochs): Boolean = {
    var above = newest
    while (above != record && !epochs.contains(records.epoch(above))) above = records.link(above)
    above != record
  }

  /** Frees everything.
    *
    * @param free
    *   frees a record with its values
    */
  def freeAll(free: Int => Unit): Unit = for (group <- table.groups) table.locked {
    table.tree.eachSlot(table.root(group)) { content =>
      val newest = recordOf(content)
      // Values of the others are in the newest, or retired.
      freeChain(records.link(newest))
      free(newest)
    }
    table.tree.free(table.root(group))
    table.setRoot(group, 0L)
  }
}

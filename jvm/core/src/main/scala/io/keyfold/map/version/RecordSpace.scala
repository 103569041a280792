package io.keyfold.map.version

import io.keyfold.map.cold.ColdRow
import io.keyfold.map.value.{Records, ValueHead, ValueNodes}
import io.keyfold.mem.Slice
import io.keyfold.mem.arena.Arena
import io.keyfold.model.FamilySpec

/** The records of a transaction: how they are written, which may be changed in place, and when
  * replaced ones are freed, as [[PageSpace]] does for index pages. Keeps the counts of families.
  *
  * A record written after the newest open cursor was made, and not escaped to a caller, belongs to
  * the transaction alone. So do its values, up to the first that a replaced record shares.
  */
private[map] final class RecordSpace(arena: Arena, node: VersionNode) {
  private val records = new Records(arena.addresses)
  private val nodes = new ValueNodes(arena.addresses)
  private val found = new Slice
  private val newHead = new Array[Byte](ValueHead.Length)

  /** Whether the transaction has written the record and no caller has its bytes. */
  def isOwn(record: Int): Boolean = records.isPrivate(record, node.base.epoch)

  /** Keeps the record's bytes and values from now on: a caller has them. */
  def markEscaped(record: Int): Unit = records.markEscaped(record, node.base.epoch)

  /** Writes a row.
    *
    * @param before
    *   the key's record, or 0
    * @param append
    *   whether the values of `before` stay
    * @return
    *   its new record; if it differs from `before`, it must take its place in the index, and
    *   `before` must be retired
    */
  def write(
      rows: FamilyIndex,
      before: Int,
      hash: Int,
      key: Slice,
      value: Slice,
      append: Boolean
  ): Int = {
    val live = if (before != 0 && records.isRow(before)) before else 0
    val record =
      if (rows.spec.multiValue) writeList(rows, live, hash, key, value, append)
      else writeValue(rows, live, hash, key, value)
    if (live == 0) {
      rows.keys += 1
      rows.bytes += key.length
    }
    record
  }

  private def writeValue(
      rows: FamilyIndex,
      before: Int,
      hash: Int,
      key: Slice,
      value: Slice
  ): Int = {
    val length = if (before == 0) 0 else records.value(before, found).length
    val inPlace = mayReplace(before) &&
      Records.isLong(key.length, length) == Records.isLong(key.length, value.length) &&
      arena.sizeClass(Records.size(key.length, length)) ==
      arena.sizeClass(Records.size(key.length, value.length))
    if (inPlace) records.overwrite(before, value)
    val record = if (inPlace) before else newRecord(hash, key, value)
    if (before == 0) rows.values += 1
    rows.bytes += value.length - length
    record
  }

  private def writeList(
      rows: FamilyIndex,
      before: Int,
      hash: Int,
      key: Slice,
      value: Slice,
      append: Boolean
  ): Int = {
    val head = if (before == 0) emptyHead() else records.value(before, found)
    val newest = ValueHead.newest(head)
    val values = ValueHead.values(head)
    val bytes = ValueHead.bytes(head)
    val inPlace = mayReplace(before)
    val origin = if (append && before == 0) ValueNodes.FirstAdded else ValueNodes.Written
    val added = newNode(if (append) newest else 0, value, origin)
    if (inPlace && !append) retireOwn(newest)
    // One that came back from a cold leaf, and is not replaced in place, is freed.
    if (append && before != 0 && !isPrivate(before)) nodes.share(newest, node.base.epoch)
    val keptValues = if (append) values else 0
    val keptBytes = if (append) bytes else 0L
    rows.values += keptValues + 1 - values
    rows.bytes += keptBytes + value.length - bytes
    val target = if (inPlace) head else emptyHead()
    ValueHead.write(target, added, keptValues + 1, keptBytes + value.length)
    if (inPlace) before else newRecord(hash, key, target)
  }

  /** Writes a record without a value.
    *
    * @param mark
    *   [[Records.Removed]] or [[Records.Moved]]
    */
  def writeMark(hash: Int, key: Slice, mark: Int): Int = {
    val record = arena.allocate(Records.size(key.length, mark))
    records.writeMark(record, node.epoch, hash, key, mark)
    record
  }

  /** Subtracts a row that is not in memory and is replaced or removed. */
  def subtract(rows: FamilyIndex, keyLength: Int, values: Int, valueBytes: Long): Unit = {
    rows.keys -= 1
    rows.values -= values
    rows.bytes -= keyLength + valueBytes
  }

  /** Writes the record of a list that a run has.
    *
    * @param row
    *   before its first value
    * @param ofBase
    *   whether the base has it too
    */
  def take(row: ColdRow, key: Slice, ofBase: Boolean): Int = {
    val value = new Slice
    val origin = if (ofBase) ValueNodes.OfBase else ValueNodes.Written
    val bytes = row.valueBytes
    var newest = 0
    while (row.nextValue(value)) newest = newNode(newest, value, origin)
    val head = emptyHead()
    ValueHead.write(head, newest, row.values, bytes)
    newRecord(row.hash, key, head)
  }

  /** Writes the record of a row that a cold leaf has.
    *
    * @param list
    *   whether the family has several values per key
    * @param ofBase
    *   whether the base has it too
    */
  def takeRow(row: ColdRow, list: Boolean, ofBase: Boolean): Int = {
    val key = row.key(new Slice)
    val record =
      if (list) take(row, key, ofBase)
      else {
        val value = new Slice
        row.nextValue(value)
        newRecord(row.hash, key, value)
      }
    if (ofBase) records.markOfBase(record)
    record
  }

  /** Subtracts the row of a record that is removed. */
  def subtract(rows: FamilyIndex, record: Int): Unit = {
    rows.keys -= 1
    rows.bytes -= records.bytes(record)
    if (rows.spec.multiValue) {
      val head = records.value(record, found)
      rows.values -= ValueHead.values(head)
      rows.bytes -= ValueHead.bytes(head) - ValueHead.Length
    } else rows.values -= 1
  }

  /** Retires a record that was removed from the index of an ordered family.
    *
    * @param valuesStay
    *   whether the record that replaced it shares its values
    */
  def retire(rows: OrderedIndex, record: Int, valuesStay: Boolean): Unit = {
    if (!valuesStay) retireValues(rows, record)
    val ofBase = records.isOfBase(record, node.base.epoch)
    if (!isPrivate(record)) {
      node.retired.addRecord(record)
      if (ofBase) rows.gone.add(record)
    } else {
      // A row that came back from a cold leaf: its key is told, and its value is in the file.
      if (ofBase) {
        val key = writeMark(records.hash(record), records.key(record, found), Records.Removed)
        node.retired.addRecord(key)
        rows.gone.add(key)
      }
      arena.free(record)
    }
  }

  /** Frees or retires a record of an ordered family, whose row has left memory. */
  def leave(rows: OrderedIndex, record: Int): Unit = {
    retireValues(rows, record)
    if (isPrivate(record)) arena.free(record) else node.retired.addRecord(record)
  }

  /** Retires the values of a record that no row shares any more. */
  def retireValues(rows: FamilyIndex, record: Int): Unit =
    if (rows.spec.multiValue && records.isRow(record)) {
      val newest = ValueHead.newest(records.value(record, found))
      if (isPrivate(record)) retireOwn(newest) else node.retired.addValues(newest)
    }

  /** Frees the values of a record that belongs to the transaction alone. */
  private def retireOwn(newest: Int): Unit = {
    var value = newest
    while (value != 0 && nodes.isPrivate(value, node.cursors.frozen)) {
      val before = nodes.older(value)
      arena.free(value)
      value = before
    }
    if (value != 0) node.retired.addValues(value)
  }

  /** Frees a record made after `epoch`, and those of its values made after it. */
  def freeNewer(spec: FamilySpec, record: Int, epoch: Int): Unit = {
    if (spec.multiValue && records.isRow(record)) {
      nodes.freeNewer(ValueHead.newest(records.value(record, found)), epoch, arena)
    }
    arena.free(record)
  }

  /** Whether a record belongs to the transaction alone; 0: there is none. */
  def isPrivate(record: Int): Boolean =
    record != 0 && records.isPrivate(record, node.cursors.frozen)

  /** Whether a record may be changed in place or freed: it belongs to the transaction alone, and
    * nobody asks what the base had.
    */
  private def mayReplace(record: Int): Boolean =
    isPrivate(record) && !records.isOfBase(record, node.base.epoch)

  private def emptyHead(): Slice = {
    val head = found.set(newHead)
    ValueHead.write(head, 0, 0, 0L)
    head
  }

  private def newNode(older: Int, value: Slice, origin: Int): Int = {
    val added = arena.allocate(ValueNodes.size(value.length))
    nodes.write(added, node.epoch, older, value, origin)
    added
  }

  private def newRecord(hash: Int, key: Slice, value: Slice): Int = {
    val record = arena.allocate(Records.size(key.length, value.length))
    records.write(record, node.epoch, hash, key, value)
    record
  }
}

package io.keyfold.map.cold

import java.util.Arrays

import io.keyfold.format.wire.ByteSink
import io.keyfold.map.RowSink
import io.keyfold.map.hash.HashKey
import io.keyfold.map.value.IntList
import io.keyfold.mem.Slice

/** Takes the rows of a key group as they come from files, of a family with one value a key, and
  * gives them in the order of runs. Of a key that comes again the last counts.
  */
private[cold] final class UnsortedRows(hashKey: HashKey) extends RowSink {
  import UnsortedRows._

  private val entries = new ByteSink
  private val starts = new IntList

  /** For each row its index hash, the sign turned, and which it is. */
  private var order = new Array[Long](64)
  private val (current, later) = (new ColdRow, new ColdRow)
  private val currentKey = new Slice
  private var at = -1

  override def put(family: Int, hash: Int, key: Slice, value: Slice): Unit = {
    begin(hash, key, values = 1)
    ColdRow.addValue(entries, value)
  }

  override def remove(family: Int, hash: Int, key: Slice): Boolean = {
    begin(hash, key, values = 0)
    true
  }

  override def append(family: Int, hash: Int, key: Slice, value: Slice): Unit =
    throw new IllegalStateException("A row with one value was appended to")

  override def expect(family: Int, rows: Int): Unit = ()

  private def begin(hash: Int, key: Slice, values: Int): Unit = {
    if (starts.size == order.length) order = Arrays.copyOf(order, order.length * 2)
    order(starts.size) = hashKey.hash(key).toLong << 32 ^ Signed | starts.size
    starts.add(entries.length)
    ColdRow.begin(entries, hash, key, changed = false, values)
  }

  /** To be called when all have come. */
  def sort(): Unit = {
    Arrays.sort(order, 0, starts.size)
    at = -1
  }

  /** Steps to the next row; none is one that was removed. */
  def next(): Boolean = {
    at += 1
    while (at < starts.size && !isLast(at)) at += 1
    at < starts.size
  }

  /** The index hash of the row. */
  def hash: Int = hashAt(at)

  /** The row, before its first value. */
  def row: ColdRow = current

  /** Whether a row is the last of its key, and not a removal. */
  private def isLast(i: Int): Boolean = {
    point(current, i)
    !current.isRemoved && !comesAgain(i)
  }

  private def comesAgain(i: Int): Boolean = {
    var j = i + 1
    while (j < starts.size && hashAt(j) == hashAt(i)) {
      point(later, j)
      if (later.hasKey(current.key(currentKey))) return true
      j += 1
    }
    false
  }

  private def hashAt(i: Int): Int = ((order(i) ^ Signed) >>> 32).toInt

  private def point(to: ColdRow, i: Int): Unit = {
    val which = order(i).toInt
    val end = if (which + 1 < starts.size) starts(which + 1) else entries.length
    to.set(entries.array, starts(which), end)
  }
}

private object UnsortedRows {

  /** Turns the order of unsigned hashes into that of signed numbers. */
  private val Signed = Long.MinValue
}

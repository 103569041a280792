package io.keyfold.map

import scala.collection.mutable

import io.keyfold.mem.Slice
import io.keyfold.testkit.Bytes
import org.scalatest.Assertions

/** A cursor of a transaction that writes go on beside, M5. The values that it has come to are added
  * to those that must stay, M6.
  *
  * @param start
  *   the rows that it must show
  */
private[map] final class CursorModel(
    cursor: RowCursor,
    ordered: Boolean,
    start: StateMapModel.Rows,
    borrowed: mutable.Buffer[(Slice, Bytes)]
) extends Assertions {
  import CursorModel._
  import StateMapModel._

  private val seen = mutable.ArrayBuffer.empty[Bytes]

  /** Values of the current row that are still to come. */
  private var values = Vector.empty[Bytes]

  /** Goes on by so many values; leaves out what is left of a row now and then.
    *
    * @return
    *   whether there is more
    */
  def step(count: Int): Boolean = {
    var left = count
    while (left > 0 && ((left % 3 > 0 && nextValue()) || nextRow())) left -= 1
    if (left > 0) assert(seen.toSet == start.keySet, "rows missed")
    left == 0
  }

  /** Ends it where it is, twice as it may. */
  def close(): Unit = {
    cursor.close()
    assert(!cursor.next() && !cursor.nextValue(), "rows come after the end")
    cursor.close()
  }

  private def nextValue(): Boolean = {
    val found = cursor.nextValue()
    assert(found == values.nonEmpty, "values missed, or too many")
    if (found) checkValue()
    found
  }

  private def nextRow(): Boolean = cursor.next() && {
    val k = Bytes.of(cursor.key)
    assert(cursor.hash == hashOf(k))
    assert(start.contains(k), s"for key $k")
    assert(!seen.contains(k), s"key $k came twice")
    if (ordered) assert(seen.lastOption.forall(Bytes.ordering.lteq(_, k)))
    seen += k
    values = start(k)
    checkValue()
    true
  }

  private def checkValue(): Unit = {
    assert(Bytes.of(cursor.value) == values.head, s"for key ${seen.last}")
    borrowed += borrow(cursor)
    values = values.tail
  }
}

private[map] object CursorModel {

  /** Values of the row that a cursor has come to. */
  def valuesOf(cursor: RowCursor): Vector[Bytes] =
    Bytes.of(cursor.value) +: Iterator
      .continually(cursor.nextValue())
      .takeWhile(identity)
      .map(_ => Bytes.of(cursor.value))
      .toVector

  /** The value that a cursor has come to, where it is. */
  def borrow(cursor: RowCursor): (Slice, Bytes) = {
    val value = cursor.value
    new Slice(value.base, value.offset, value.length) -> Bytes.of(value)
  }
}

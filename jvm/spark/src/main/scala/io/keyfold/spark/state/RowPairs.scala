package io.keyfold.spark.state

import io.keyfold.errors.CorruptRow
import io.keyfold.map.RowCursor
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.execution.streaming.state.UnsafeRowPair

/** Adapts a cursor to Spark's iterators: `hasNext` looks ahead, `next` reuses its pair.
  *
  * @param all
  *   one pair per value instead of one per key
  */
private final class RowPairs(rows: RowCursor, schema: FamilySchema, all: Boolean)
    extends Iterator[UnsafeRowPair] {
  private val keys = schema.newKeys()
  private val values = schema.newValues()
  private val pair = new UnsafeRowPair
  private val reused = new UnsafeRow(schema.value.length)
  private var key: UnsafeRow = _
  private var ahead = false
  private var ended = false

  override def hasNext: Boolean = {
    if (!ahead && !ended) {
      ahead =
        try step()
        catch { case e: CorruptRow => throw ColumnFamily.sparksError(e) }
      ended = !ahead
    }
    ahead
  }

  private def step(): Boolean =
    if (all && key != null && rows.nextValue()) true
    else {
      key = null
      rows.next()
    }

  override def next(): UnsafeRowPair = {
    if (!hasNext) throw new NoSuchElementException("no more rows")
    ahead = false
    if (key == null || !all) key = keys.decode(rows.key)
    val value = values.decode(rows.value, reused)
    schema.validate(key, value)
    pair.withRows(key, value)
  }
}

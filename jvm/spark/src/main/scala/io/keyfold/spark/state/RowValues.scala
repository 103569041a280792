package io.keyfold.spark.state

import io.keyfold.errors.CorruptRow
import io.keyfold.map.RowCursor
import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/** The values of one key; `next` reuses its row.
  *
  * @param rows
  *   has only that key, or nothing
  */
private final class RowValues(rows: RowCursor, schema: FamilySchema) extends Iterator[UnsafeRow] {
  private val values = schema.newValues()
  private val reused = new UnsafeRow(schema.value.length)
  private var ahead = step(rows.next())

  override def hasNext: Boolean = ahead

  override def next(): UnsafeRow = {
    if (!ahead) throw new NoSuchElementException("no more values")
    val value = values.decode(rows.value, reused)
    ahead = step(rows.nextValue())
    value
  }

  private def step(body: => Boolean): Boolean =
    try body
    catch { case e: CorruptRow => throw ColumnFamily.sparksError(e) }
}

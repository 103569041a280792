package io.keyfold.spark.state

import io.keyfold.store.ChangeFeed
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.execution.streaming.state.RecordType
import org.apache.spark.sql.keyfold.SparkPrivate

/** A change feed in Spark's form: record type, key, value (null if removed), and the batch that
  * committed the version. These are net changes: a key that a batch wrote twice comes once, and a
  * key that it put and removed again does not come. Rows are reused.
  */
private[spark] final class ChangeRows(feed: ChangeFeed, schema: FamilySchema)
    extends SparkPrivate.ChangeIterator {
  private val keys = schema.newKeys()
  private val values = schema.newValues()

  override protected def getNext(): (RecordType.Value, UnsafeRow, UnsafeRow, Long) =
    if (!feed.next()) {
      finished = true
      null
    } else {
      val key = keys.decode(feed.key)
      val batch = feed.version - 1
      if (feed.removed) (RecordType.DELETE_RECORD, key, null, batch)
      else {
        val value = values.decode(feed.value, new UnsafeRow(schema.value.length))
        schema.validate(key, value)
        val kind = if (feed.appended) RecordType.MERGE_RECORD else RecordType.PUT_RECORD
        (kind, key, value, batch)
      }
    }

  override protected def close(): Unit = feed.close()
}

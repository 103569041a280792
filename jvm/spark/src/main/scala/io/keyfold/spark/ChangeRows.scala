package io.keyfold.spark

import io.keyfold.store.ChangeFeed
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.execution.streaming.state.RecordType
import org.apache.spark.sql.keyfold.ChangeIterator

/** A change feed as Spark reads it: the kind of record, key, value (null if removed), and the batch
  * whose commit made the version. Net changes: a key that a batch wrote twice comes once, and one
  * that it put and removed again does not come. Rows are reused.
  */
private final class ChangeRows(feed: ChangeFeed, schema: StoreSchema) extends ChangeIterator {
  private val codec = schema.newCodec()

  override protected def nextChange(): Option[(RecordType.Value, UnsafeRow, UnsafeRow, Long)] =
    Option.when(feed.next()) {
      val key = codec.decode(feed.key)
      val batch = feed.version - 1
      if (feed.removed) (RecordType.DELETE_RECORD, key, null, batch)
      else {
        val value = RowBytes.row(schema.value.length, feed.value)
        schema.validate(key, value)
        (RecordType.PUT_RECORD, key, value, batch)
      }
    }

  override protected def close(): Unit = feed.close()
}

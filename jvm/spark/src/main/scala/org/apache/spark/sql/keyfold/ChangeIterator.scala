package org.apache.spark.sql.keyfold

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.execution.streaming.state.RecordType
import org.apache.spark.util.NextIterator

/** Spark's iterator over a change feed, whose base class is private to Spark: record type, key,
  * value (null if removed), batch.
  */
abstract class ChangeIterator extends NextIterator[(RecordType.Value, UnsafeRow, UnsafeRow, Long)] {

  /** The next change, or None at the end. */
  protected def nextChange(): Option[(RecordType.Value, UnsafeRow, UnsafeRow, Long)]

  override protected def getNext(): (RecordType.Value, UnsafeRow, UnsafeRow, Long) =
    nextChange().getOrElse {
      finished = true
      null
    }
}

package io.keyfold.spark.rewrite

/** A row to put, or to delete, in a table of state. Sent to executors.
  *
  * @param key
  *   UnsafeRow of the family's key schema
  * @param value
  *   UnsafeRow of its value schema; null: the row is deleted
  */
private final case class RowChange(key: Array[Byte], value: Array[Byte])

package io.keyfold.spark

import io.keyfold.store.StoreView
import org.apache.spark.TaskContext
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.execution.streaming.state._

/** A committed version to read. Released by the caller or, since Spark does not always, when the
  * task ends.
  */
private final class KeyfoldReadStore(
    override val id: StateStoreId,
    view: StoreView,
    schema: StoreSchema
) extends ReadStateStore
    with OneFamily {
  private val rows = new StoreRows(view, schema)

  Option(TaskContext.get()).foreach(_.addTaskCompletionListener[Unit](_ => release()))

  override def version: Long = view.version.version

  override def get(key: UnsafeRow, family: String): UnsafeRow = {
    requireDefault(family)
    rows.get(key)
  }

  override def keyExists(key: UnsafeRow, family: String): Boolean = {
    requireDefault(family)
    rows.contains(key)
  }

  override def multiGet(keys: Array[UnsafeRow], family: String): Iterator[UnsafeRow] = {
    requireDefault(family)
    keys.iterator.map(rows.get)
  }

  override def iterator(family: String): StateStoreIterator[UnsafeRowPair] = {
    requireDefault(family)
    rows.iterator()
  }

  override def prefixScan(
      prefix: UnsafeRow,
      family: String
  ): StateStoreIterator[UnsafeRowPair] = {
    requireDefault(family)
    rows.prefixScan(prefix)
  }

  override def abort(): Unit = release()
  override def release(): Unit = view.release()
}

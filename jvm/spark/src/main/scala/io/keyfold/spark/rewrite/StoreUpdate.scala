package io.keyfold.spark.rewrite

import scala.collection.mutable

import io.keyfold.errors.Invalid
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.execution.streaming.state.StateStore

/** Writes the next version of the store that has a table: the last one, with some of its rows
  * changed. Sent to executors.
  *
  * @param store
  *   as it is read
  * @param replaces
  *   whether the rows that the table has are removed first
  */
private final class StoreUpdate(store: StoreOfOperator, table: WritableTable, replaces: Boolean)
    extends Serializable {
  import StoreUpdate.Written

  /** Runs in a task.
    *
    * @param changes
    *   of rows that belong to the partition
    * @throws io.keyfold.errors.Invalid
    *   if a row is there twice
    */
  def write(partition: Int, changes: Iterator[RowChange]): Written =
    if (changes.isEmpty && !replaces) Written(store.versionOf(partition).unchanged.id, 0, 0)
    else
      store.using(partition)(store.of(partition)) { state =>
        val (put, deleted) = change(state, changes)
        state.commit()
        Written(state.getStateStoreCheckpointInfo().stateStoreCkptId.get, put, deleted)
      }

  private def change(state: StateStore, changes: Iterator[RowChange]) = {
    var (put, deleted) = (0L, 0L)
    if (replaces) {
      val old = mutable.ArrayBuffer.empty[UnsafeRow]
      state.iterator(table.family).foreach(row => old += row.key.copy())
      old.foreach(state.remove(_, table.family))
      deleted = old.length
    }
    val seen = mutable.HashSet.empty[UnsafeRow]
    changes.foreach { row =>
      val key = table.keyRow(row)
      if (!seen.add(key)) throw twice(key)
      if (row.value != null) {
        state.put(key, table.valueRow(row), table.family)
        put += 1
      } else if (state.get(key, table.family) != null) {
        state.remove(key, table.family)
        deleted += 1
      }
    }
    (put, deleted)
  }

  private def twice(key: UnsafeRow) = new Invalid(
    "KEYFOLD_WRITE_ROWS",
    s"Cannot write table ${table.family} of operator ${store.operator}: two of the given rows have the key " +
      s"${table.described(key)}. Give one row for each key. Nothing was changed."
  )
}

private object StoreUpdate {

  /** What a task has done.
    *
    * @param id
    *   of the partition's next version
    * @param put
    *   rows
    * @param deleted
    *   rows that were there
    */
  final case class Written(id: String, put: Long, deleted: Long)
}

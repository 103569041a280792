package io.keyfold.spark.rewrite

import scala.collection.mutable

import io.keyfold.errors.Invalid
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.execution.streaming.state.StateStore

/** Writes the next version of the stores that have a table: the last one, with some of its rows
  * changed. Sent to executors.
  *
  * @param stores
  *   as they are read: one, or two of a join that has a store for each family
  * @param replaces
  *   whether all other rows of the table are removed
  * @param emptied
  *   whether the stores are not loaded, as the table is all that they have, and it is replaced or
  *   has no rows: then no row may be deleted by its key
  * @param counts
  *   whether rows of one key are only noticed by the number of rows, which takes less time; for
  *   emptied stores of a plain table
  */
private final class StoreUpdate(
    stores: Seq[StoreOfOperator],
    table: WritableTable,
    replaces: Boolean,
    emptied: Boolean,
    counts: Boolean
) extends Serializable {
  import StoreUpdate.Written

  /** Runs in a task.
    *
    * @param blocks
    *   with changes of rows that belong to the partition, those of a list in its order
    * @return
    *   None if a row is there twice, and it takes a run that does not only count to say which
    * @throws io.keyfold.errors.Invalid
    *   if a row is there twice
    */
  def write(partition: Int, blocks: Iterator[Array[Byte]]): Option[Written] =
    if (blocks.isEmpty && !replaces)
      Some(Written(stores.map(_.versionOf(partition).unchanged.id), 0, 0))
    else
      opened(partition, stores.toList) { states =>
        val families =
          for ((store, state) <- stores.zip(states); it <- store.families)
            yield store.nameOf(it) -> new FamilyRows(state, it.schema)
        val rows = TableWriter.of(table, families.toMap)
        val done =
          if (counts)
            Some(putAll(rows, blocks) -> 0L)
              .filter { case (put, _) => states.head.metrics.numKeys == put }
          else Some(change(rows, blocks))
        done.map { case (put, deleted) =>
          states.foreach(_.commit())
          Written(states.map(_.getStateStoreCheckpointInfo().stateStoreCkptId.get), put, deleted)
        }
      }

  private def opened[T](partition: Int, of: List[StoreOfOperator], before: Seq[StateStore] = Nil)(
      use: Seq[StateStore] => T
  ): T = of match {
    case Nil             => use(before)
    case store :: others =>
      val begin = if (emptied) store.emptied(partition) _ else store.of(partition) _
      store.using(partition)(begin) { state =>
        opened(partition, others, before :+ state)(use)
      }
  }

  /** Puts rows where there are none. */
  private def putAll(rows: TableWriter, blocks: Iterator[Array[Byte]]) = {
    var put = 0L
    table.each(blocks) { (key, value) =>
      rows.put(key, value, 0)
      put += 1
    }
    put
  }

  private def change(rows: TableWriter, blocks: Iterator[Array[Byte]]) = {
    var (put, deleted) = (0L, 0L)
    // How many rows of each key were put; none of one to delete.
    val seen = mutable.HashMap.empty[UnsafeRow, Long]
    table.each(blocks) { (key, value) =>
      val before = seen.get(key)
      if (before.exists(nth => nth == 0 || value == null || !table.shape.isList)) throw twice(key)
      // It would keep the whole block.
      val kept = if (before.isEmpty) key.copy() else key
      if (value != null) {
        rows.put(key, value, before.getOrElse(0L))
        seen(kept) = before.getOrElse(0L) + 1
        put += 1
      } else {
        deleted += rows.remove(key)
        seen(kept) = 0
      }
    }
    for ((key, count) <- seen if count > 0) rows.finish(key, count)
    if (replaces) rows.keysBut(seen.contains).foreach(rows.remove)
    (put, deleted)
  }

  private def twice(key: UnsafeRow) = new Invalid(
    "KEYFOLD_WRITE_ROWS",
    s"Cannot write table ${table.name} of operator ${stores.head.operator}: two of the given rows " +
      s"have the key ${table.described(key)}. Give " +
      (if (table.shape.isList) "rows to put for a key, or the key to delete, and not both"
       else "one row for each key") + ". Nothing was changed."
  )
}

private object StoreUpdate {

  /** What a task has done.
    *
    * @param ids
    *   of the next version of each store
    * @param put
    *   rows
    * @param deleted
    *   rows that were there
    */
  final case class Written(ids: Seq[String], put: Long, deleted: Long)
}

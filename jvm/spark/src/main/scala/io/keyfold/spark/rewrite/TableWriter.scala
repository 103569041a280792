package io.keyfold.spark.rewrite

import scala.collection.mutable

import io.keyfold.spark.partition.PartitionKey
import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/** Changes rows of a table in a version of a partition, and what Spark keeps to count and to find
  * them, as Spark's operators do. In a task.
  *
  * @param keyed
  *   has each key that has rows once
  */
private sealed abstract class TableWriter(keyed: FamilyRows) {

  /** Keys that have rows, but some. */
  def keysBut(isOne: UnsafeRow => Boolean): Seq[UnsafeRow] = keyed.keysBut(isOne)

  /** Puts a row.
    *
    * @param nth
    *   how many rows of this key were put before; the first removes what the key has
    */
  def put(key: UnsafeRow, value: UnsafeRow, nth: Long): Unit

  /** Removes the rows of a key; returns how many there were. */
  def remove(key: UnsafeRow): Long

  /** Called after the last row of a key, with the number of its rows. */
  def finish(key: UnsafeRow, count: Long): Unit = ()
}

private object TableWriter {

  /** @param family
    *   of a name: the column family or, of a join that has a store for each, the store's only one
    */
  def of(table: WritableTable, family: String => FamilyRows): TableWriter = {
    val name = table.family
    def expiring = family(PartitionKey.ttlIndexOf(name))
    table.shape match {
      case TableShape.Side                      => new Side(family(name), family(countsOf(name)))
      case TableShape.Elements if table.expires =>
        new ExpiringList(family(name), family(s"$$count_$name"), family(s"$$min_$name"), expiring)
      case TableShape.Elements => new Elements(family(name), family(s"$$rowCounter_$name"))
      case TableShape.Timers   =>
        val byTime = family(name.replace("_keyToTimestamp", "_timestampToKey"))
        new Indexed(family(name), byTime)((key, _) => Seq(key.getLong(1), table.groupingKey(key)))
      case _ if table.expires =>
        new Indexed(family(name), expiring)((key, value) => Seq(value.getLong(1), key))
      case _ => new Rows(family(name))
    }
  }

  /** The family, or store, that counts the rows of a join's side. */
  def countsOf(side: String): String = side.replace("keyWithIndexToValue", "keyToNumValues")

  private final class Rows(rows: FamilyRows) extends TableWriter(rows) {
    override def put(key: UnsafeRow, value: UnsafeRow, nth: Long): Unit = rows.put(key, value)
    override def remove(key: UnsafeRow): Long = {
      val found = rows.get(key)
      if (found.nonEmpty) rows.remove(key)
      found.size.toLong
    }
  }

  /** With an index of rows by time.
    *
    * @param timed
    *   columns of the index's key, by key and value of a row
    */
  private final class Indexed(rows: FamilyRows, index: FamilyRows)(
      timed: (UnsafeRow, UnsafeRow) => Seq[Any]
  ) extends TableWriter(rows) {
    override def put(key: UnsafeRow, value: UnsafeRow, nth: Long): Unit = {
      remove(key)
      rows.put(key, value)
      index.put(index.key(timed(key, value): _*), index.value(null))
    }
    override def remove(key: UnsafeRow): Long = {
      val found = rows.get(key)
      for (value <- found) {
        index.remove(index.key(timed(key, value): _*))
        rows.remove(key)
      }
      found.size.toLong
    }
  }

  /** With the number of rows of each key. */
  private abstract class Counted(counts: FamilyRows) extends TableWriter(counts) {
    override def remove(key: UnsafeRow): Long = {
      val count = counts.get(key).fold(0L)(_.getLong(0))
      removeRows(key, count)
      counts.remove(key)
      count
    }
    protected def removeRows(key: UnsafeRow, count: Long): Unit
    override def finish(key: UnsafeRow, count: Long): Unit = counts.put(key, counts.value(count))
  }

  private class Elements(lists: FamilyRows, counts: FamilyRows) extends Counted(counts) {
    override def put(key: UnsafeRow, value: UnsafeRow, nth: Long): Unit =
      if (nth > 0) lists.append(key, value)
      else {
        remove(key)
        lists.put(key, value)
      }
    override protected def removeRows(key: UnsafeRow, count: Long): Unit = lists.remove(key)
  }

  /** With the time at which the first element of each list expires, and an index of lists by it. */
  private final class ExpiringList(
      lists: FamilyRows,
      counts: FamilyRows,
      first: FamilyRows,
      index: FamilyRows
  ) extends Elements(lists, counts) {
    private val expires = mutable.HashMap.empty[UnsafeRow, Long]

    override def put(key: UnsafeRow, value: UnsafeRow, nth: Long): Unit = {
      super.put(key, value, nth)
      val earliest = math.min(expires.getOrElse(key, Long.MaxValue), value.getLong(1))
      expires(if (nth == 0) key.copy() else key) = earliest
    }
    override def remove(key: UnsafeRow): Long = {
      for (time <- first.get(key).map(_.getLong(0))) {
        first.remove(key)
        index.remove(index.key(time, key))
      }
      super.remove(key)
    }
    override def finish(key: UnsafeRow, count: Long): Unit = {
      super.finish(key, count)
      val time = expires(key)
      first.put(key, first.value(time))
      index.put(index.key(time, key), index.value(null))
    }
  }

  private final class Side(rows: FamilyRows, counts: FamilyRows) extends Counted(counts) {
    override def put(key: UnsafeRow, value: UnsafeRow, nth: Long): Unit = {
      if (nth == 0) remove(key)
      rows.put(rows.keyWith(key, nth), value)
    }
    override protected def removeRows(key: UnsafeRow, count: Long): Unit =
      for (nth <- 0L until count) rows.remove(rows.keyWith(key, nth))
  }
}

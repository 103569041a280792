package io.keyfold.map

import scala.collection.immutable.{HashMap, IntMap, TreeMap}

import io.keyfold.group.KeyGroups

/** The rows of one family in one version: an immutable value. */
private[map] sealed trait HeapRows {
  def get(key: RowKey): Option[Array[Byte]]
  def updated(key: RowKey, value: Array[Byte]): HeapRows
  def removed(key: RowKey): HeapRows
  def iterator: Iterator[(RowKey, Array[Byte])]
  def groups: Array[Int]
  def group(group: Int): Iterator[(RowKey, Array[Byte])]
}

/** A hash table for each key group. */
private[map] final case class HashedRows(
    keyGroups: Int,
    tables: IntMap[HashMap[RowKey, Array[Byte]]]
) extends HeapRows {
  private def table(key: RowKey) = KeyGroups.groupOf(key.hash, keyGroups)

  override def get(key: RowKey): Option[Array[Byte]] =
    tables.get(table(key)).flatMap(_.get(key))

  override def updated(key: RowKey, value: Array[Byte]): HeapRows = {
    val group = table(key)
    val rows = tables.getOrElse(group, HashMap.empty[RowKey, Array[Byte]])
    copy(tables = tables.updated(group, rows.updated(key, value)))
  }

  override def removed(key: RowKey): HeapRows = {
    val group = table(key)
    val rows = tables(group).removed(key)
    copy(tables = if (rows.isEmpty) tables.removed(group) else tables.updated(group, rows))
  }

  override def iterator: Iterator[(RowKey, Array[Byte])] = tables.valuesIterator.flatten
  override def groups: Array[Int] = tables.keysIterator.toArray
  override def group(group: Int): Iterator[(RowKey, Array[Byte])] =
    tables.get(group).iterator.flatten
}

/** One ordered table over all key groups. */
private[map] final case class OrderedRows(keyGroups: Int, table: TreeMap[RowKey, Array[Byte]])
    extends HeapRows {
  override def get(key: RowKey): Option[Array[Byte]] = table.get(key)
  override def updated(key: RowKey, value: Array[Byte]): HeapRows =
    copy(table = table.updated(key, value))
  override def removed(key: RowKey): HeapRows = copy(table = table.removed(key))
  override def iterator: Iterator[(RowKey, Array[Byte])] = table.iterator

  private lazy val byGroup =
    table.toArray.groupBy { case (key, _) => KeyGroups.groupOf(key.hash, keyGroups) }
  override def groups: Array[Int] = byGroup.keysIterator.toArray
  override def group(group: Int): Iterator[(RowKey, Array[Byte])] =
    byGroup.get(group).iterator.flatten

  def startingWith(prefix: Array[Byte]): Iterator[(RowKey, Array[Byte])] =
    table.iteratorFrom(new RowKey(0, prefix)).takeWhile(_._1.bytes.startsWith(prefix))
}

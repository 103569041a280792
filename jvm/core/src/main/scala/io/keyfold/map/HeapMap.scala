package io.keyfold.map

import scala.collection.immutable.{HashMap, IntMap, TreeMap}
import scala.collection.mutable

import io.keyfold.errors.{Invalid, OutOfOrder}
import io.keyfold.format.{Family, FamilySpec, VersionId}
import io.keyfold.group.KeyGroups
import io.keyfold.mem.Slice

/** The plain [[StateMap]]: immutable tables on the heap, so that versions, views and abort are
  * values that are kept or dropped. It allocates for every row; the off-heap engine takes its
  * place.
  *
  * @param keyGroups
  *   G
  */
final class HeapMap(keyGroups: Int) extends StateMap {
  private var versions = Map(VersionId.Empty -> HeapVersion.Empty)
  private var transaction: Option[HeapTxn] = None

  override def holds(version: VersionId): Boolean = synchronized(versions.contains(version))

  override def pin(version: VersionId): MapView = synchronized(new HeapView(held(version)))

  override def begin(base: VersionId): MapTxn = synchronized {
    if (transaction.exists(_.isOpen)) {
      throw new OutOfOrder(s"Cannot begin on version $base while another transaction is open")
    }
    val txn = new HeapTxn(held(base), this, keyGroups)
    transaction = Some(txn)
    txn
  }

  override def retain(newest: VersionId, count: Int): Unit = synchronized {
    val others = versions.keySet.filter(v => v.version <= newest.version) - newest - VersionId.Empty
    val kept = others.toSeq.sortBy(-_.version).take(count - 1).toSet + newest + VersionId.Empty
    versions = versions.filter { case (version, _) => kept(version) }
  }

  /** Versions share most rows: the largest one counts. */
  override def memoryBytes: Long = synchronized {
    versions.values.map(_.families.map(f => f.bytes + f.keys * HeapMap.RowOverhead).sum).max
  }

  override def close(): Unit = synchronized {
    versions = Map(VersionId.Empty -> HeapVersion.Empty)
  }

  private[map] def publish(version: VersionId, rows: HeapVersion): Unit =
    synchronized(versions += version -> rows)

  private def held(version: VersionId): HeapVersion =
    versions.getOrElse(version, throw new OutOfOrder(s"Version $version is not in memory"))
}

object HeapMap {

  /** Bytes on the heap for a row besides its key and value: table node, key object, array headers.
    */
  private val RowOverhead = 120L
}

private[map] final case class HeapVersion(families: Vector[Family], rows: Vector[HeapRows])

private[map] object HeapVersion {
  val Empty: HeapVersion = HeapVersion(Vector.empty, Vector.empty)
}

private[map] class HeapView(start: HeapVersion) extends MapView {
  protected var current: HeapVersion = start

  override def families: IndexedSeq[Family] = current.families
  override def familyIndex(name: String): Int = current.families.indexWhere(_.spec.name == name)

  override def get(family: Int, hash: Int, key: Slice, value: Slice): Boolean =
    current.rows(family).get(new RowKey(hash, key.toArray)) match {
      case Some(bytes) =>
        value.set(bytes)
        true
      case None => false
    }

  override def scan(family: Int): RowCursor = new HeapCursor(current.rows(family).iterator)

  override def scanPrefix(family: Int, prefix: Slice): RowCursor = current.rows(family) match {
    case ordered: OrderedRows => new HeapCursor(ordered.startingWith(prefix.toArray))
    case _: HashedRows        =>
      val name = current.families(family).spec.name
      throw new Invalid("KEYFOLD_NOT_ORDERED", s"Cannot prefix-scan $name: it is not ordered")
  }

  override def groups(family: Int): Array[Int] = current.rows(family).groups
  override def scanGroup(family: Int, group: Int): RowCursor =
    new HeapCursor(current.rows(family).group(group))

  override def release(): Unit = ()
}

private[map] final class HeapTxn(base: HeapVersion, map: HeapMap, keyGroups: Int)
    extends HeapView(base)
    with MapTxn {
  private val changed = mutable.Map.empty[(Int, Int), mutable.Set[RowKey]]
  @volatile private var open = true

  def isOpen: Boolean = open

  override def createFamily(spec: FamilySpec): Int = {
    val rows =
      if (spec.ordered) OrderedRows(keyGroups, TreeMap.empty[RowKey, Array[Byte]])
      else HashedRows(keyGroups, IntMap.empty[HashMap[RowKey, Array[Byte]]])
    current = HeapVersion(current.families :+ Family(spec, 0, 0, 0), current.rows :+ rows)
    current.families.length - 1
  }

  override def put(family: Int, hash: Int, key: Slice, value: Slice): Unit = {
    val rowKey = new RowKey(hash, key.toArray)
    val bytes = value.toArray
    val rows = current.rows(family)
    val after = rows.updated(rowKey, bytes)
    rows.get(rowKey) match {
      case Some(old) => replace(family, rowKey, after, 0, bytes.length - old.length)
      case None      => replace(family, rowKey, after, 1, rowKey.bytes.length + bytes.length)
    }
  }

  override def remove(family: Int, hash: Int, key: Slice): Boolean = {
    val rowKey = new RowKey(hash, key.toArray)
    val rows = current.rows(family)
    rows.get(rowKey) match {
      case Some(old) =>
        val bytes = rowKey.bytes.length + old.length
        replace(family, rowKey, rows.removed(rowKey), -1, -bytes)
        true
      case None => false
    }
  }

  private def replace(family: Int, key: RowKey, rows: HeapRows, keys: Int, bytes: Int): Unit = {
    val group = KeyGroups.groupOf(key.hash, keyGroups)
    changed.getOrElseUpdate((family, group), mutable.Set.empty) += key
    val f = current.families(family)
    val counted = f.copy(keys = f.keys + keys, values = f.values + keys, bytes = f.bytes + bytes)
    current = HeapVersion(
      current.families.updated(family, counted),
      current.rows.updated(family, rows)
    )
  }

  override def changedGroups(family: Int): Array[Int] =
    changed.keysIterator.collect { case (`family`, group) => group }.toArray

  override def changes(family: Int, group: Int): ChangeCursor = {
    val before = if (family < base.rows.length) Some(base.rows(family)) else None
    val after = current.rows(family)
    val net = changed.getOrElse((family, group), Nil).iterator.flatMap { key =>
      after.get(key) match {
        case Some(value)                                => Some((key, value))
        case None if before.exists(_.get(key).nonEmpty) => Some((key, null))
        case None                                       => None
      }
    }
    new HeapCursor(net)
  }

  override def commit(version: VersionId): Unit = {
    if (!open) throw new OutOfOrder(s"Cannot commit version $version: the transaction has ended")
    open = false
    map.publish(version, current)
  }

  override def abort(): Unit = open = false
}

private[map] final class HeapCursor(rows: Iterator[(RowKey, Array[Byte])]) extends ChangeCursor {
  private var row: (RowKey, Array[Byte]) = _
  override val key: Slice = new Slice
  override val value: Slice = new Slice

  override def hash: Int = row._1.hash
  override def removed: Boolean = row._2 == null

  override def next(): Boolean = rows.hasNext && {
    row = rows.next()
    key.set(row._1.bytes)
    if (!removed) value.set(row._2)
    true
  }
}

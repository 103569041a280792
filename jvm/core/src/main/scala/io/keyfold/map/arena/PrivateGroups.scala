package io.keyfold.map.arena

import scala.collection.mutable

import io.keyfold.errors.OutOfOrder
import io.keyfold.io.OnFailure
import io.keyfold.map.hash.HashTable
import io.keyfold.map.{CursorOver, MapTxn, MapView, RowCursor, RowSink}
import io.keyfold.mem.Slice
import io.keyfold.mem.page.PagePool
import io.keyfold.model.FamilySpec

/** Lazy key groups of one view, in maps of their own: of a view that reads beside another thread's
  * transaction, which alone may put them into the map of both. All bytes that are handed out are on
  * the heap, so it does not matter which thread asks.
  *
  * @param families
  *   of the view
  */
private[map] final class PrivateGroups(
    families: Seq[FamilySpec],
    lazyLoad: LazyLoad,
    keyGroups: Int,
    pool: PagePool
) extends AutoCloseable {

  /** What [[of]] has put so far. */
  private var rows = newRows()
  private val taken = families.map(_ => mutable.BitSet.empty).toArray

  /** Of cursors that have not ended. */
  private val scanned = mutable.Set.empty[MapTxn]
  private var closed = false

  private def newRows(): MapTxn = {
    val map = new ArenaMap(keyGroups, pool)
    val rows = map.beginShared()
    // The memory is free once the transaction is released or collected.
    map.close()
    families.foreach(rows.createFamily)
    rows
  }

  def has(family: Int, group: Int): Boolean = synchronized(taken(family)(group))

  /** A view of the rows of a group, in which families have the same indices.
    *
    * @return
    *   null if the map has it
    */
  def of(family: Int, table: HashTable, group: Int): MapView = synchronized {
    requireOpen()
    if (has(family, group)) rows
    else
      OnFailure(startOver()) {
        val isTaken = lazyLoad.putElsewhere(table, group, new Sink(rows, family))
        if (isTaken) taken(family) += group
        if (isTaken) rows else null
      }
  }

  /** A part of a group may be there, and must not be added to. */
  private def startOver(): Unit = {
    rows.release()
    taken.foreach(_.clear())
    rows = newRows()
  }

  /** The rows of a group, whose memory is free behind the last of them; null if the map has it. */
  def scan(family: Int, table: HashTable, group: Int): RowCursor = synchronized {
    requireOpen()
    val own = newRows()
    var isPut = false
    try isPut = lazyLoad.putElsewhere(table, group, new Sink(own, family))
    finally if (!isPut) own.release()
    if (isPut) {
      scanned += own
      new EndingCursor(own.scanGroup(family, group), () => end(own))
    } else null
  }

  private def end(own: MapTxn): Unit = synchronized {
    scanned -= own
    own.release()
  }

  private def requireOpen(): Unit =
    if (closed) throw new OutOfOrder("Cannot read rows of a view that was released")

  override def close(): Unit = synchronized {
    closed = true
    rows.release()
    scanned.foreach(_.release())
  }

  private final class Sink(to: MapTxn, family: Int) extends RowSink {
    override def expect(lazyFamily: Int, count: Int): Unit = to.expect(family, count)
    override def put(lazyFamily: Int, hash: Int, key: Slice, value: Slice): Unit =
      to.put(family, hash, key, value)
    override def append(lazyFamily: Int, hash: Int, key: Slice, value: Slice): Unit =
      to.append(family, hash, key, value)
    override def remove(lazyFamily: Int, hash: Int, key: Slice): Boolean =
      to.remove(family, hash, key)
  }

  private final class EndingCursor(rows: RowCursor, end: () => Unit) extends CursorOver(rows) {
    private var ended = false

    override def next(): Boolean = !ended && (rows.next() || {
      close()
      false
    })

    override def nextValue(): Boolean = !ended && super.nextValue()

    override def close(): Unit = if (!ended) {
      ended = true
      super.close()
      end()
    }
  }
}

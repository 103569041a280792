package io.keyfold.map

import io.keyfold.mem.{Mem, Slice}

/** Steps through the records of an index as it is when the cursor is made, fetching one leaf's at a
  * time. If the first leaf is not all, a transaction keeps its pages as they are until the cursor
  * has come to its end.
  *
  * @param owner
  *   the view that keeps the records
  * @param txn
  *   the same if it is a transaction that is open, else null
  */
private[map] abstract class RecordCursor(records: Records, val owner: MapView, txn: ArenaTxn)
    extends RowCursor {
  private val batch = new IntList
  private var index = -1
  private var more = true
  private var keeping = false
  override val key = new Slice
  override val value = new Slice

  /** Adds the records that come next, of one leaf at least.
    *
    * @return
    *   whether there may be more after them
    */
  protected def fetch(batch: IntList): Boolean

  /** To be called when the cursor is made. */
  protected def start(): Unit = {
    fetchNext()
    if (more && txn != null) {
      txn.keepPages()
      keeping = true
    }
  }

  override def hash: Int = records.hash(batch(index))

  override def next(): Boolean = {
    index += 1
    if (index >= batch.size && more) {
      fetchNext()
      index = 0
    }
    index < batch.size && {
      records.key(batch(index), key)
      records.value(batch(index), value)
      true
    }
  }

  private def fetchNext(): Unit = {
    batch.clear()
    more = fetch(batch)
    records.touch(batch)
    if (txn != null) {
      var i = 0
      while (i < batch.size) {
        txn.show(batch(i))
        i += 1
      }
    }
    if (!more && keeping) {
      keeping = false
      txn.letPagesGo()
    }
  }
}

/** Rows of hashed key groups. */
private[map] final class HashCursor(
    trie: HashTrie,
    roots: GroupTable,
    groups: Array[Int],
    owner: MapView,
    txn: ArenaTxn
) extends RecordCursor(trie.records, owner, txn) {
  private val pages = groups.map(roots(_))
  private var group = 0
  private var from = 0L
  start()

  override protected def fetch(batch: IntList): Boolean = {
    while (batch.size == 0 && group < pages.length) {
      from = trie.collect(pages(group), from, batch)
      if (from >= HashTrie.End) {
        from = 0L
        group += 1
      }
    }
    group < pages.length
  }
}

/** Rows of an ordered family in the order of keys.
  *
  * @param prefix
  *   what all keys begin with; empty: any key
  */
private[map] final class TreeCursor(
    tree: OrderedTree,
    root: Int,
    prefix: Array[Byte],
    owner: MapView,
    txn: ArenaTxn
) extends RecordCursor(tree.records, owner, txn) {
  private val from = new Slice().set(prefix)
  private val lastKey = new Slice
  private var started = false
  start()

  override protected def fetch(batch: IntList): Boolean = {
    tree.collect(root, from, behind = started, batch)
    started = true
    batch.size > 0 && {
      val whole = isWithin(batch(batch.size - 1))
      if (whole) from.set(tree.records.key(batch(batch.size - 1), from).toArray)
      else while (batch.size > 0 && !isWithin(batch(batch.size - 1))) batch.removeLast()
      whole
    }
  }

  private def isWithin(record: Int): Boolean = {
    tree.records.key(record, lastKey)
    lastKey.length >= prefix.length &&
    Mem.equal(lastKey.base, lastKey.offset, prefix, Mem.ArrayOffset, prefix.length)
  }
}

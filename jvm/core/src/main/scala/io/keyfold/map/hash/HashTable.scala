package io.keyfold.map.hash

import scala.collection.mutable

import io.keyfold.map.value.{IntList, Records}
import io.keyfold.mem.Slice
import io.keyfold.mem.arena.Arena

/** The rows of a family without order, in all versions: by key group and index hash the newest
  * record of each key. A record leads to the one that it was put before, and so on, down to the
  * oldest that a version still needs; epochs fall along this chain. A reader takes the first that
  * its [[Sight]] allows. So a put changes one slot, and nothing is copied for older versions.
  *
  * The link of a record is the record before it. While its transaction is open, it is its index in
  * the [[Journal]] plus 1, which has the record before it; or 0, if the transaction has made the
  * family and nothing is before the record.
  *
  * Threads: changes are made by who may write to the arena, with the lock; others read with the
  * lock. The writer itself needs none to read.
  *
  * @param number
  *   of the family in its map
  */
private[map] final class HashTable(
    val number: Int,
    arena: Arena,
    keyGroups: Int,
    hashKey: HashKey,
    val lock: IndexLock
) {
  import HashPages._
  import HashTable._

  val records = new Records(arena.addresses)
  private[hash] val tree = new HashTree(arena, records)

  /** References to the roots of groups, in blocks, so that absent groups cost nothing. */
  private val roots = new Array[Array[Long]]((keyGroups + BlockMask) >> BlockBits)

  /** Versions and transactions that have the family, or had it and dropped it. */
  var users = 0

  /** Frees what no version needs. */
  val reclaimer = new Reclaimer(this, arena, keyGroups, hashKey)

  /** Of the open transaction; null if none is open. */
  private var journal: Journal = _
  private var openAfter = Int.MaxValue

  /** Whether the open transaction has made the family: then nothing has to be told or taken back.
    */
  def isOwn: Boolean = made
  private var made = false

  /** Groups whose rows are not in the table yet; null: there are none. */
  @volatile var lazyGroups: LazyGroups = _

  /** Puts rows of a lazy group, as the transaction that made the family would. */
  def fill(put: => Unit): Unit = {
    isFilled = true
    try put
    finally isFilled = false
  }
  private var isFilled = false

  /** A transaction begins to write.
    *
    * @param first
    *   its first epoch
    * @param isOwn
    *   whether it has made the family
    */
  def open(journal: Journal, first: Int, isOwn: Boolean): Unit = locked {
    this.journal = journal
    openAfter = first - 1
    made = isOwn
    expected = 0
  }

  /** The transaction writes no more. */
  def close(): Unit = if (journal != null) locked {
    var i = 0
    while (i < journal.size) {
      if (i % AtOnce == 0) journal.touch(records, i, math.min(i + AtOnce, journal.size))
      var record = journal.record(i)
      // Those that the transaction has put others before have no entry any more.
      while (record != 0 && records.epoch(record) > openAfter) {
        val next = before(record)
        records.setLink(record, next)
        record = next
      }
      i += 1
    }
    journal = null
    openAfter = Int.MaxValue
    made = false
  }

  def locked[T](use: => T): T = {
    lock.lock()
    try use
    finally lock.unlock()
  }

  private[hash] def root(group: Int): Long = {
    val block = roots(group >> BlockBits)
    if (block == null) 0L else block(group & BlockMask)
  }

  private[hash] def setRoot(group: Int, root: Long): Unit = {
    val b = group >> BlockBits
    if (roots(b) == null) roots(b) = new Array[Long](1 << BlockBits)
    roots(b)(group & BlockMask) = root
  }

  /** Groups that have records, of any version, ascending. */
  def groups: Array[Int] = {
    val found = mutable.ArrayBuilder.make[Int]
    for (b <- roots.indices if roots(b) != null; i <- 0 to BlockMask) {
      if (roots(b)(i) != 0L) found += (b << BlockBits) + i
    }
    found.result()
  }

  /** The newest record of a key, or 0. */
  def newest(group: Int, hash: Int, key: Slice): Int = recordOf(tree.find(root(group), hash, key))

  /** The first of a chain that is seen, or 0. */
  def seen(newest: Int, sight: Sight): Int = {
    var record = newest
    while (record != 0 && !sight.sees(records.epoch(record))) record = before(record)
    record
  }

  /** As [[seen]]; 0 also if the row is in a run. */
  def seenInMemory(newest: Int, sight: Sight): Int = {
    val record = seen(newest, sight)
    if (record != 0 && records.isMoved(record)) 0 else record
  }

  /** The record that this one was put before, or 0. */
  def before(record: Int): Int = {
    val link = records.link(record)
    if (link == 0 || records.epoch(record) <= openAfter) link else journal.before(link - 1)
  }

  /** The record of a key's row; 0: it is not in memory; [[HashTable.Removed]]: it was removed. */
  def find(group: Int, hash: Int, key: Slice, sight: Sight): Int = {
    val record = seenInMemory(newest(group, hash, key), sight)
    if (record == 0 || records.isRow(record)) record else Removed
  }

  /** Adds the records of rows with hashes of at least `from`, of one leaf, in no particular order.
    *
    * @return
    *   the hash to continue from; [[HashTree.End]] at the end
    */
  def collect(group: Int, from: Long, sight: Sight, into: IntList): Long = {
    val start = into.size
    val next = tree.collect(root(group), from, into)
    records.touch(into, start, into.size)
    var kept = start
    var i = start
    while (i < into.size) {
      val record = seen(into(i), sight)
      if (record != 0 && records.isRow(record)) {
        into(kept) = record
        kept += 1
      }
      i += 1
    }
    into.cutTo(kept)
    next
  }

  /** Whether a version has rows of a group in memory. */
  def hasRows(group: Int, sight: Sight): Boolean = tree.exists(root(group)) { content =>
    val record = seen(recordOf(content), sight)
    record != 0 && records.isRow(record)
  }

  /** Puts a record before the newest one of its key, which is not the transaction's to change.
    *
    * @param newest
    *   0: there is none
    */
  def put(group: Int, hash: Int, newest: Int, record: Int): Unit =
    // Nobody else has the family, or looks at the group before it is lazy no more.
    if (newest == 0 && (isOwn || isFilled) && records.isRow(record)) {
      records.setLink(record, 0)
      insert(group, hash, record)
    } else locked(putBefore(group, hash, newest, record))

  private def putBefore(group: Int, hash: Int, newest: Int, record: Int): Unit = {
    if (newest != 0 && records.epoch(newest) > openAfter) {
      val link = records.link(newest)
      if (link != 0) journal.replace(link - 1, 0)
    }
    records.setLink(record, journal.add(record, newest, group) + 1)
    if (newest == 0) insert(group, hash, record)
    else tree.replace(root(group), hash, newest, record)
  }

  private def insert(group: Int, hash: Int, record: Int): Unit = {
    val before = root(group)
    val after = tree.insert(before, hash, record, expected)
    if (after != before) setRoot(group, after)
    expected = 0
  }

  /** The next rows are of one group, and this many, so that its table need not grow. */
  def expect(rows: Int): Unit = expected = rows
  private var expected = 0

  /** Puts a record in the place of one that is the transaction's alone. */
  def replace(group: Int, hash: Int, before: Int, after: Int): Unit = locked {
    val link = records.link(before)
    if (link != 0) journal.replace(link - 1, after)
    val isNoted = link != 0 || records.isRow(after)
    records.setLink(after, if (isNoted) link else journal.add(after, 0, group) + 1)
    tree.replace(root(group), hash, before, after)
  }

  /** Takes a record away that is the transaction's alone, the only one of its key. */
  def remove(group: Int, hash: Int, record: Int): Unit = locked {
    val link = records.link(record)
    if (link != 0) journal.remove(link - 1)
    removeEntry(group, hash, record)
  }

  private[hash] def removeEntry(group: Int, hash: Int, record: Int): Unit =
    setRoot(group, tree.remove(root(group), hash, record))

  private val key = new Slice

  /** The slot of a key's newest record. Only for the writer. */
  def slotOf(record: Int): Long = HashPages.slotOf(hashKey.hash(records.key(record, key)), record)

  /** Calls `use` for the slot of each key of a group, with its newest record. */
  def eachSlot(group: Int)(use: Long => Unit): Unit = tree.eachSlot(root(group))(use)

  /** Takes records out of the table that are the only ones of their keys.
    *
    * @param slots
    *   their slots
    */
  def removeAll(group: Int, slots: Array[Long]): Unit = locked {
    for (content <- slots) removeEntry(group, hashOf(content), recordOf(content))
  }
}

private[map] object HashTable {

  /** No record has this handle: it would have to begin in the last 8 bytes of the last page. */
  val Removed: Int = -1

  private val BlockBits = 6
  private val BlockMask = (1 << BlockBits) - 1

  /** Records that are fetched at once. */
  private[hash] val AtOnce = 64
}

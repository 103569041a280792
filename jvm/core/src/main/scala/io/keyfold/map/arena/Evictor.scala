package io.keyfold.map.arena

import java.util.Arrays

import scala.annotation.tailrec

import io.keyfold.io.OnFailure
import io.keyfold.map.cold.{ColdRun, ColdRunWriter, ColdRuns, ColdSpace, MergedRuns}
import io.keyfold.map.hash.HashPages
import io.keyfold.map.value.{GroupedRecords, IntList, Records, ValueHead, ValueSteps}
import io.keyfold.map.version.{HashedIndex, RecordSpace, VersionNode}
import io.keyfold.mem.Slice
import io.keyfold.mem.arena.Arena

/** Moves rows of hashed families from memory to runs. The rows of all versions stay the same.
  *
  * @param node
  *   the open transaction; or the oldest version, if none is open and nobody reads
  */
private[map] final class Evictor(arena: Arena, cold: ColdSpace, node: VersionNode) {
  import Evictor._

  private val reader = new Records(arena.addresses)
  private val records = new RecordSpace(arena, node)
  private val runs = new ColdRuns(arena.addresses, cold.files)
  private val rowSizes = new RowSizes(arena.addresses)
  private val steps = new ValueSteps(arena.addresses)
  private val (key, value) = (new Slice, new Slice)
  private val recordsOf = new IntList

  /** Moves the rows of a group that are the same in all versions, and merges its runs if they are
    * too many. If that fails, they are where they were.
    *
    * @param versions
    *   the family in all versions, the oldest first
    * @param epoch
    *   the last in which they may have been written
    * @return
    *   bytes that are free now
    */
  def settle(versions: Seq[HashedIndex], group: Int, epoch: Int): Long = {
    val rows = versions.head
    // Those that say that a row was removed go too: what they hide may be dropped with this run.
    val evicted = evictable(rows, rows.table.eachSlot(group)) { record =>
      reader.link(record) == 0 && reader.epoch(record) <= epoch && !reader.isMoved(record)
    }
    val older = cold.list(rows.cold(group))
    if (evicted.nonEmpty || count(older) > MostRuns) {
      val merged = merging(older, evicted.length.toLong)
      val below = older.drop(merged.size)
      val before = arena.liveBytes
      val run = newRun(rows, evicted, merged, below, isChanged = false)
      versions.foreach(replaceRun(_, group, older.headOption.getOrElse(0), run))
      merged.foreach(cold.free)
      rows.table.removeAll(group, evicted.map(_ ^ Signed))
      for (content <- evicted) {
        records.freeNewer(rows.spec, HashPages.recordOf(content), epoch = 0)
      }
      before - arena.liveBytes
    } else 0L
  }

  /** Puts a run in the place of one and of those that were merged with it, below those that later
    * transactions have written.
    */
  private def replaceRun(rows: HashedIndex, group: Int, before: Int, after: Int): Unit =
    if (rows.cold(group) == before) rows.cold(group) = after
    else {
      cold.list(rows.cold(group)).takeWhile(run => run != before && run != after).lastOption match {
        case Some(own) => ColdRun.setOlder(arena.addresses.of(own), after)
        case None      => ()
      }
    }

  /** Moves the rows that the transaction has written, marked as changed.
    *
    * @param keyGroups
    *   G
    */
  def spill(rows: HashedIndex, keyGroups: Int): Unit =
    if (rows.table.isOwn) {
      for (group <- rows.table.groups) spill(rows, group, rows.table.eachSlot(group))
    } else {
      val written = rows.journal.byGroup(keyGroups)
      for (group <- written.groups) spill(rows, group, eachWritten(rows, written, group))
    }

  private def eachWritten(rows: HashedIndex, written: GroupedRecords, group: Int)(
      use: Long => Unit
  ): Unit = {
    recordsOf.clear()
    written.addTo(recordsOf, group)
    reader.touch(recordsOf)
    var i = 0
    while (i < recordsOf.size) {
      use(rows.table.slotOf(recordsOf(i)))
      i += 1
    }
  }

  private def spill(rows: HashedIndex, group: Int, slots: (Long => Unit) => Unit): Unit = {
    // Those of other attempts at the version are older than its first epoch. A record of a removed
    // row that hides another would only leave one as long.
    val evicted = evictable(rows, slots) { record =>
      reader.epoch(record) >= node.first && !reader.isMoved(record) &&
      (reader.isRow(record) || rows.table.before(record) == 0)
    }
    if (evicted.nonEmpty) {
      val (own, older) = cold.list(rows.cold(group)).span(cold.epoch(_) > node.base.epoch)
      val merged = merging(own, evicted.length.toLong)
      val below = own.drop(merged.size) ++ older
      rows.cold(group) = newRun(rows, evicted, merged, below, isChanged = true)
      merged.foreach(retire)
      for (content <- evicted) {
        leave(rows, group, HashPages.hashOf(content ^ Signed), HashPages.recordOf(content))
      }
    }
  }

  /** The transaction's rows no longer need the run. */
  private def retire(run: Int): Unit =
    if (cold.epoch(run) > node.cursors.frozen) cold.free(run) else node.retired.addRun(run)

  /** Takes a record out of memory, but for what hides an older one. */
  private def leave(rows: HashedIndex, group: Int, hash: Int, record: Int): Unit = {
    records.retireValues(rows, record)
    val isOwn = records.isPrivate(record)
    if (isOwn && rows.table.before(record) == 0) rows.table.remove(group, hash, record)
    else {
      val mark = records.writeMark(reader.hash(record), reader.key(record, key), Records.Moved)
      if (isOwn) rows.table.replace(group, hash, record, mark)
      else rows.table.put(group, hash, record, mark)
    }
    if (isOwn) arena.free(record)
  }

  /** The slots of records that are to leave memory, in the order of their hashes, the sign turned.
    */
  private def evictable(rows: HashedIndex, slots: (Long => Unit) => Unit)(
      isEvicted: Int => Boolean
  ): Array[Long] = {
    val evicted = Array.newBuilder[Long]
    slots { content =>
      val record = HashPages.recordOf(content)
      if (isEvicted(record) && !isTooLong(rows, record)) evicted += content ^ Signed
    }
    val found = evicted.result()
    Arrays.sort(found)
    found
  }

  private def isTooLong(rows: HashedIndex, record: Int) =
    reader.isRow(record) && rowSizes.isTooLong(rows.spec, record)

  /** The runs that are merged with this many new rows, so that each is some times as long as the
    * next newer one. Full runs count as one, in which those of many rows are divided.
    */
  @tailrec
  private def merging(newestFirst: List[Int], rows: Long, merged: List[Int] = Nil): List[Int] = {
    val next = partsOf(newestFirst)
    val length = next.map(run => ColdRun.rows(arena.addresses.of(run)).toLong).sum
    if (next.nonEmpty && (length <= rows * Ratio || count(newestFirst) >= MostRuns)) {
      merging(newestFirst.drop(next.size), rows + length, merged ++ next)
    } else merged
  }

  /** The newest run, with those that were written with it because it is full. */
  private def partsOf(newestFirst: List[Int]): List[Int] =
    newestFirst.take(1) ++ newestFirst.drop(1).takeWhile(cold.isFull)

  @tailrec
  private def count(newestFirst: List[Int], found: Int = 0): Int =
    if (newestFirst.isEmpty) found
    else count(newestFirst.drop(partsOf(newestFirst).size), found + 1)

  /** Writes a run, before anything is changed: the disk may be full.
    *
    * @return
    *   its newest part
    */
  private def newRun(
      rows: HashedIndex,
      evicted: Array[Long],
      merged: List[Int],
      older: List[Int],
      isChanged: Boolean
  ): Int = {
    val writer = new ColdRunWriter(arena, cold.files, node.epoch, older.headOption.getOrElse(0))
    OnFailure(writer.parts.foreach(cold.free)) {
      write(writer, rows, evicted, merged, older, isChanged)
    }
    writer.newest
  }

  private def write(
      writer: ColdRunWriter,
      rows: HashedIndex,
      evicted: Array[Long],
      merged: List[Int],
      older: List[Int],
      isChanged: Boolean
  ): Unit = {
    // Nothing is below that a removed row would have to hide, and nobody asks what has changed.
    val dropRemoved = older.isEmpty && !isChanged
    val below = new MergedRuns(runs, merged)
    var more = below.next()
    var i = 0
    while (i < evicted.length || more) {
      val isNewer = i < evicted.length &&
        (!more || Integer.compareUnsigned(hashAt(evicted, i), below.hash) <= 0)
      if (isNewer) {
        add(writer, rows, evicted(i), isChanged, dropRemoved)
        i += 1
      } else {
        if (!(dropRemoved && below.row.isRemoved || isReplaced(evicted, i, below))) {
          writer.add(below.hash, below.row, isChanged && below.row.isChanged)
        }
        more = below.next()
      }
    }
    writer.finish()
  }

  /** Whether one of the records before `end` has the key of a row in a run. */
  private def isReplaced(evicted: Array[Long], end: Int, below: MergedRuns): Boolean = {
    var i = end - 1
    while (
      i >= 0 && hashAt(evicted, i) == below.hash &&
      !below.row.hasKey(reader.key(HashPages.recordOf(evicted(i)), key))
    ) i -= 1
    i >= 0 && hashAt(evicted, i) == below.hash
  }

  private def add(
      writer: ColdRunWriter,
      rows: HashedIndex,
      content: Long,
      isChanged: Boolean,
      dropRemoved: Boolean
  ): Unit = {
    val record = HashPages.recordOf(content)
    val indexHash = HashPages.hashOf(content ^ Signed)
    val hash = reader.hash(record)
    reader.key(record, key)
    if (reader.isRemoved(record)) {
      if (!dropRemoved) writer.add(indexHash, hash, key, isChanged, values = 0)
    } else if (rows.spec.multiValue) {
      writer.add(indexHash, hash, key, isChanged, ValueHead.values(reader.value(record, value)))
      steps.start(record, ValueSteps.AnyEpoch)
      while (steps.next(value)) writer.addValue(value)
    } else {
      writer.add(indexHash, hash, key, isChanged, values = 1)
      writer.addValue(reader.value(record, value))
    }
  }

  private def hashAt(evicted: Array[Long], i: Int) = HashPages.hashOf(evicted(i) ^ Signed)
}

private object Evictor {

  /** A run is merged with newer ones that have a half of its rows or more. */
  private val Ratio = 2

  /** Of one group. */
  private val MostRuns = 4

  /** Turns the order of unsigned hashes into that of signed numbers. */
  private val Signed = Long.MinValue
}

package io.keyfold.map.arena

import java.util.Arrays

import scala.annotation.tailrec

import io.keyfold.map.cold.{ColdRun, ColdRunWriter, ColdRuns, ColdSpace, MergedRuns}
import io.keyfold.map.hash.{HashKey, TriePages, TrieWriter}
import io.keyfold.map.value.{IntList, ValueHead, ValueSteps}
import io.keyfold.map.version.{HashedIndex, PageSpace, RecordSpace, RunSpace, VersionNode}
import io.keyfold.mem.Slice
import io.keyfold.mem.arena.Arena

/** Moves rows of hashed families from memory to runs. The rows of the node stay the same. */
private[map] final class Evictor(
    arena: Arena,
    cold: ColdSpace,
    node: VersionNode,
    hashKey: HashKey
) {
  import Evictor._

  private val pages = new PageSpace(arena, node)
  private val records = new RecordSpace(arena, node)
  private val tries = new TrieWriter(pages)
  private val runSpace = new RunSpace(cold, node)
  private val runs = new ColdRuns(arena.addresses, cold.files)
  private val steps = new ValueSteps(arena.addresses)
  private val (key, value) = (new Slice, new Slice)

  /** Moves the rows of a group that were written up to an epoch. If that fails, they are where they
    * were.
    *
    * @return
    *   their bytes
    */
  def settle(rows: HashedIndex, group: Int, epoch: Int): Long = {
    // Those that say that a row was removed go too: what they hide may be dropped with this run.
    val (evicted, kept) =
      divided(rows, group)(r => tries.records.epoch(r) <= epoch || isRemoved(r))
    if (evicted.nonEmpty) {
      val older = cold.list(rows.cold(group))
      val merged = merging(older, evicted.length.toLong)
      move(rows, group, evicted, kept, merged, older.drop(merged.size), isChanged = false)
    } else 0L
  }

  /** Moves the rows of a group that the transaction has written, marked as changed.
    *
    * @param rootOfBase
    *   of the group's trie
    */
  def spill(rows: HashedIndex, group: Int, rootOfBase: Int): Long = {
    val base = node.base.epoch
    if (!runSpace.isOwn(rows.cold(group))) markRemoved(rows, group, rootOfBase)
    val (evicted, kept) = divided(rows, group)(tries.records.epoch(_) > base)
    if (evicted.nonEmpty) {
      val (own, older) = cold.list(rows.cold(group)).span(runSpace.isOwn)
      val merged = merging(own, evicted.length.toLong)
      move(rows, group, evicted, kept, merged, own.drop(merged.size) ++ older, isChanged = true)
    } else 0L
  }

  /** Adds records of the rows of the base that the transaction has removed: once it has a run of
    * its own, its trie and that of the base do not tell them.
    */
  private def markRemoved(rows: HashedIndex, group: Int, rootOfBase: Int): Unit = {
    val (put, gone) = (new IntList, new IntList)
    tries.diff(rootOfBase, rows.roots(group), put, gone)
    for (i <- 0 until gone.size if !tries.records.isRemoved(gone(i))) {
      val mark = records.writeRemoved(tries.records.hash(gone(i)), tries.records.key(gone(i), key))
      rows.roots(group) = tries.insert(rows.roots(group), hashKey.hash(key), mark)
    }
  }

  /** The records of a group that are to leave memory, in the order of their hashes, each in the
    * lower half below its hash; and the slots of the others.
    */
  private def divided(rows: HashedIndex, group: Int)(
      isEvicted: Int => Boolean
  ): (Array[Long], Array[Long]) = {
    val evicted = Array.newBuilder[Long]
    val kept = Array.newBuilder[Long]
    tries.eachSlot(rows.roots(group)) { content =>
      val record = TriePages.recordOf(content)
      if (isEvicted(record) && !isTooLong(rows, record)) evicted += content ^ Signed
      else kept += content
    }
    val found = evicted.result()
    Arrays.sort(found)
    (found, kept.result())
  }

  private def without(root: Int, taken: Array[Long], kept: Array[Long]): Int =
    if (taken.length < kept.length / 8) {
      taken.foldLeft(root) { (left, content) =>
        tries.remove(left, TriePages.hashOf(content ^ Signed), TriePages.recordOf(content))
      }
    } else {
      tries.retireAll(root)(_ => ())
      kept.foldLeft(0) { (made, content) =>
        tries.insert(made, TriePages.hashOf(content), TriePages.recordOf(content))
      }
    }

  /** A row is written and read as a whole, on the heap, so one that is very long stays. */
  private def isTooLong(rows: HashedIndex, record: Int) = !isRemoved(record) && {
    tries.records.value(record, value)
    val bytes = if (rows.spec.multiValue) ValueHead.bytes(value) else value.length.toLong
    bytes > MostRowBytes
  }

  private def isRemoved(record: Int) = tries.records.isRemoved(record)

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

  /** Writes the run before it changes anything: the disk may be full. */
  private def move(
      rows: HashedIndex,
      group: Int,
      evicted: Array[Long],
      kept: Array[Long],
      merged: List[Int],
      older: List[Int],
      isChanged: Boolean
  ): Long = {
    val writer = new ColdRunWriter(arena, cold.files, node.epoch, older.headOption.getOrElse(0))
    val bytes =
      try write(writer, rows, evicted, merged, older, isChanged)
      catch {
        case e: Throwable =>
          writer.parts.foreach(cold.free)
          throw e
      }
    rows.roots(group) = without(rows.roots(group), evicted, kept)
    rows.cold(group) = writer.newest
    merged.foreach(runSpace.retire)
    for (content <- evicted) {
      records.retire(rows, TriePages.recordOf(content), valuesStay = false)
    }
    bytes
  }

  private def write(
      writer: ColdRunWriter,
      rows: HashedIndex,
      evicted: Array[Long],
      merged: List[Int],
      older: List[Int],
      isChanged: Boolean
  ): Long = {
    // Nothing is below that a removed row would have to hide, and nobody asks what has changed.
    val dropRemoved = older.isEmpty && !isChanged
    val below = new MergedRuns(runs, merged)
    var more = below.next()
    var bytes = 0L
    var i = 0
    while (i < evicted.length || more) {
      val isNewer = i < evicted.length &&
        (!more || Integer.compareUnsigned(hashAt(evicted, i), below.hash) <= 0)
      if (isNewer) {
        bytes += add(writer, rows, evicted(i), isChanged, dropRemoved)
        i += 1
      } else {
        if (!(dropRemoved && below.row.isRemoved || isReplaced(evicted, i, below))) {
          writer.add(below.hash, below.row, isChanged && below.row.isChanged)
        }
        more = below.next()
      }
    }
    writer.finish()
    bytes
  }

  /** Whether one of the records before `end` has the key of a row in a run. */
  private def isReplaced(evicted: Array[Long], end: Int, below: MergedRuns): Boolean = {
    var i = end - 1
    while (
      i >= 0 && hashAt(evicted, i) == below.hash &&
      !below.row.hasKey(tries.records.key(TriePages.recordOf(evicted(i)), key))
    ) i -= 1
    i >= 0 && hashAt(evicted, i) == below.hash
  }

  /** @return the bytes that leave memory */
  private def add(
      writer: ColdRunWriter,
      rows: HashedIndex,
      content: Long,
      isChanged: Boolean,
      dropRemoved: Boolean
  ): Long = {
    val record = TriePages.recordOf(content)
    val indexHash = TriePages.hashOf(content ^ Signed)
    val hash = tries.records.hash(record)
    tries.records.key(record, key)
    if (tries.records.isRemoved(record)) {
      if (!dropRemoved) writer.add(indexHash, hash, key, isChanged, values = 0)
      BesideRow + key.length
    } else if (rows.spec.multiValue) {
      tries.records.value(record, value)
      val bytes = ValueHead.bytes(value)
      val values = ValueHead.values(value)
      writer.add(indexHash, hash, key, isChanged, values)
      steps.start(record, ValueSteps.AnyEpoch)
      while (steps.next(value)) writer.addValue(value)
      BesideRow * (1 + values) + key.length + bytes
    } else {
      writer.add(indexHash, hash, key, isChanged, values = 1)
      writer.addValue(tries.records.value(record, value))
      BesideRow + key.length + value.length
    }
  }

  private def hashAt(evicted: Array[Long], i: Int) = TriePages.hashOf(evicted(i) ^ Signed)
}

private object Evictor {

  /** A run is merged with newer ones that have a half of its rows or more. */
  private val Ratio = 2

  /** Of one group. */
  private val MostRuns = 4
  private val MostRowBytes = 4L << 20

  /** Bytes of a record's header and of its slot in the trie. */
  private val BesideRow = 32L

  /** Turns the order of unsigned hashes into that of signed numbers. */
  private val Signed = Long.MinValue
}

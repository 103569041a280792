package io.keyfold.map.arena

import java.util.Arrays

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
  private val values = new ValueSteps(arena.addresses)
  private val (key, value) = (new Slice, new Slice)

  /** Moves the rows of a group that were written up to an epoch.
    *
    * @return
    *   their bytes
    */
  def settle(rows: HashedIndex, group: Int, epoch: Int): Long = {
    val evicted = take(rows, group)(_ <= epoch)
    if (evicted.nonEmpty) {
      val older = cold.list(rows.cold(group))
      val merged = merging(older, evicted.length)
      write(rows, group, evicted, merged, older.drop(merged.size), isChanged = false)
    } else 0L
  }

  /** Moves the rows of a group that the transaction has written, marked as changed.
    *
    * @param rootOfBase
    *   of the group's trie
    */
  def spill(rows: HashedIndex, group: Int, rootOfBase: Int): Long = {
    val base = node.base.epoch
    if (!hasSpilled(rows, group)) markRemoved(rows, group, rootOfBase)
    val evicted = take(rows, group)(_ > base)
    if (evicted.nonEmpty) {
      val (own, older) = cold.list(rows.cold(group)).span(cold.epoch(_) > base)
      val merged = merging(own, evicted.length)
      write(rows, group, evicted, merged, own.drop(merged.size) ++ older, isChanged = true)
    } else 0L
  }

  /** Whether the transaction has a run of its own. */
  private def hasSpilled(rows: HashedIndex, group: Int) =
    rows.cold(group) != 0 && cold.epoch(rows.cold(group)) > node.base.epoch

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

  /** Removes records from a group's trie, and returns them in the order of their hashes, each in
    * the lower half below its hash.
    */
  private def take(rows: HashedIndex, group: Int)(isTaken: Int => Boolean): Array[Long] = {
    val root = rows.roots(group)
    val taken = Array.newBuilder[Long]
    val kept = Array.newBuilder[Long]
    tries.eachSlot(root) { content =>
      if (isTaken(tries.records.epoch(TriePages.recordOf(content)))) taken += content ^ Signed
      else kept += content
    }
    val found = taken.result()
    if (found.nonEmpty) {
      tries.retireAll(root)(_ => ())
      rows.roots(group) = kept.result().foldLeft(0) { (root, content) =>
        tries.insert(root, TriePages.hashOf(content), TriePages.recordOf(content))
      }
    }
    Arrays.sort(found)
    found
  }

  /** The runs that are merged with this many new rows, so that each run is some times as long as
    * the next newer one.
    */
  private def merging(newestFirst: List[Int], count: Int): List[Int] = {
    var rows = count.toLong
    var left = newestFirst.size
    newestFirst.takeWhile { run =>
      val length = ColdRun.rows(arena.addresses.of(run)).toLong
      val isMerged = left >= MostRuns || length <= rows * Ratio
      rows += length
      left -= 1
      isMerged
    }
  }

  private def write(
      rows: HashedIndex,
      group: Int,
      evicted: Array[Long],
      merged: List[Int],
      older: List[Int],
      isChanged: Boolean
  ): Long = {
    val writer = new ColdRunWriter(arena, cold.files)
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
    rows.cold(group) = writer.finish(node.epoch, older.headOption.getOrElse(0))
    merged.foreach(runSpace.retire)
    for (content <- evicted) {
      records.retire(rows, TriePages.recordOf(content), valuesStay = false)
    }
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

  /** @return the bytes of the record */
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
      key.length.toLong
    } else if (rows.spec.multiValue) {
      tries.records.value(record, value)
      val bytes = ValueHead.bytes(value)
      writer.add(indexHash, hash, key, isChanged, ValueHead.values(value))
      values.start(record, ValueSteps.AnyEpoch)
      while (values.next(value)) writer.addValue(value)
      key.length + bytes
    } else {
      writer.add(indexHash, hash, key, isChanged, values = 1)
      writer.addValue(tries.records.value(record, value))
      key.length.toLong + value.length
    }
  }

  private def hashAt(evicted: Array[Long], i: Int) = TriePages.hashOf(evicted(i) ^ Signed)
}

private object Evictor {

  /** A run is merged with newer ones that have a half of its rows or more. */
  private val Ratio = 2

  /** Of one group. */
  private val MostRuns = 4

  /** Turns the order of unsigned hashes into that of signed numbers. */
  private val Signed = Long.MinValue
}

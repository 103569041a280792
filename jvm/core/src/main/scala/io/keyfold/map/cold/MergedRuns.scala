package io.keyfold.map.cold

import scala.collection.mutable

import io.keyfold.mem.Slice

/** Steps through the newest row of each key of several runs, in the order of index hashes
  * (unsigned); those removed too.
  *
  * @param newestFirst
  *   runs of one key group
  */
private[map] final class MergedRuns(runs: ColdRuns, newestFirst: Seq[Int]) {
  private val cursors = newestFirst.map(ColdRunCursor(runs, _)).toArray
  private val isOpen = cursors.map(_.next())

  /** The keys with the last hash that were stepped to. */
  private val seen = mutable.ArrayBuffer.empty[Slice]
  private var current = -1

  /** The index hash of the row. */
  var hash = 0
  def row: ColdRow = cursors(current).row

  /** Epoch of the row's run. */
  def epoch: Int = cursors(current).epoch

  def next(): Boolean = {
    if (current >= 0) isOpen(current) = cursors(current).next()
    while (step()) {
      if (!isReplaced) return true
      isOpen(current) = cursors(current).next()
    }
    false
  }

  /** To the cursor with the smallest hash, of equal ones the newest. */
  private def step(): Boolean = {
    current = -1
    var i = 0
    while (i < cursors.length) {
      if (
        isOpen(i) && (current < 0 || Integer.compareUnsigned(
          cursors(i).hash,
          cursors(current).hash
        ) < 0)
      ) {
        current = i
      }
      i += 1
    }
    current >= 0
  }

  /** Whether a newer run has the row's key. */
  private def isReplaced: Boolean = {
    val found = cursors(current).hash
    if (found != hash) seen.clear()
    hash = found
    val replaced = seen.exists(row.hasKey)
    if (!replaced && isElsewhere(found)) seen += row.key(new Slice)
    replaced
  }

  private def isElsewhere(hash: Int): Boolean = {
    var i = current + 1
    while (i < cursors.length && !(isOpen(i) && cursors(i).hash == hash)) i += 1
    i < cursors.length
  }
}

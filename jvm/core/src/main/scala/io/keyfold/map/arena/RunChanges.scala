package io.keyfold.map.arena

import io.keyfold.map.ChangeCursor
import io.keyfold.map.cold.{ColdRow, MergedRuns}
import io.keyfold.map.cursor.KeySet
import io.keyfold.mem.Slice

/** The changes in the runs of a transaction. Its slices are on the heap and stay valid.
  *
  * @param isInMemory
  *   whether the transaction has a record of a key, which is then not taken from the runs
  */
private[map] final class RunChanges(
    runs: MergedRuns,
    isInMemory: (Int, Slice) => Boolean,
    base: KeySet
) extends ChangeCursor {
  private var row: ColdRow = _
  override val key = new Slice
  override val value = new Slice

  override def next(): Boolean = {
    row = null
    while (row == null && runs.next()) {
      runs.row.key(key)
      if (isChange(runs.row)) row = runs.row
    }
    if (row != null && !row.isRemoved) row.nextValue(value)
    row != null
  }

  private def isChange(row: ColdRow) = row.isChanged &&
    !isInMemory(runs.hash, key) &&
    (!row.isRemoved || base.contains(row.hash, key))

  override def appended: Boolean = false
  override def removed: Boolean = row.isRemoved
  override def hash: Int = row.hash
  override def nextValue(): Boolean = row.nextValue(value)

  override def close(): Unit = row = null
}

package io.keyfold.map.arena

import io.keyfold.map.RowCursor
import io.keyfold.map.cold.{ColdRow, ColdRuns, MergedRuns}
import io.keyfold.map.hash.Sight
import io.keyfold.map.version.HashedIndex
import io.keyfold.mem.Slice

/** Steps through the rows of key groups that are in runs and have no record, as they were when it
  * was made. Its slices are on the heap and stay valid.
  */
private[map] final class ColdCursor(
    runs: ColdRuns,
    rows: HashedIndex,
    sight: Sight,
    groups: Array[Int]
) extends RowCursor {
  private val newest = groups.map(rows.cold(_))
  private var group = -1
  private var merged: MergedRuns = _
  private var row: ColdRow = _
  override val key = new Slice
  override val value = new Slice
  override def hash: Int = row.hash

  override def next(): Boolean = {
    row = null
    while (row == null && (merged != null || group + 1 < groups.length)) {
      if (merged == null) {
        group += 1
        merged = new MergedRuns(runs, runs.toScan(newest(group)))
      }
      if (!merged.next()) merged = null
      else if (isCurrent(merged)) row = merged.row
    }
    row != null && row.nextValue(value)
  }

  private def isCurrent(merged: MergedRuns): Boolean = !merged.row.isRemoved && {
    merged.row.key(key)
    rows.table.locked(rows.table.find(groups(group), merged.hash, key, sight)) == 0
  }

  override def nextValue(): Boolean = row != null && row.nextValue(value)

  override def close(): Unit = {
    merged = null
    row = null
    group = groups.length
  }
}

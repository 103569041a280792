package io.keyfold.map.arena

import io.keyfold.map.ChangeCursor
import io.keyfold.map.cold.{ColdRuns, ColdSpace, MergedRuns}
import io.keyfold.map.cursor.{ChangedRecordsCursor, KeySet, ViewLock}
import io.keyfold.map.hash.{HashPages, Sight}
import io.keyfold.map.value.{GroupedRecords, IntList, Records}
import io.keyfold.map.version.{GroupTable, HashedIndex, VersionNode}
import io.keyfold.mem.Slice
import io.keyfold.mem.arena.Addresses

/** What an open transaction has changed in a hashed family, by key group, until it writes again.
  *
  * @param sight
  *   what the transaction sees
  * @param keysOfBase
  *   those of the family in the base
  * @param coldOfBase
  *   its runs there
  * @param keyGroups
  *   G
  */
private[map] final class HashedChanges(
    addresses: Addresses,
    cold: ColdSpace,
    rows: HashedIndex,
    sight: Sight,
    base: VersionNode,
    keysOfBase: KeySet,
    coldOfBase: GroupTable,
    keyGroups: Int,
    lock: ViewLock
) {
  private val records = new Records(addresses)
  private val baseSight = base.sight
  private val writes = rows.journal.changes
  private val byGroup: GroupedRecords =
    if (rows.table.isOwn) null else rows.journal.byGroup(keyGroups)

  /** Those of the last call. */
  private val written, removed = new IntList
  private val key = new Slice

  /** One for all groups. */
  private val changed = new ChangedRecordsCursor(addresses, rows.spec, base.epoch, keysOfBase, lock)

  /** Whether these are the changes of a family, as it is now. */
  def areOf(family: HashedIndex): Boolean = (family eq rows) && rows.journal.changes == writes

  /** The key groups that may have changes. */
  def groups: Array[Int] = {
    val written = if (byGroup == null) rows.table.groups else byGroup.groups
    val spilled = rows.cold.differing(coldOfBase)
    if (spilled.isEmpty) written else (written ++ spilled).distinct
  }

  /** The changes of a group, valid until the next call. */
  def cursor(group: Int): ChangeCursor = {
    changed.reset()
    addWritten(group)
    if (rows.cold(group) == coldOfBase(group)) changed
    else new SpilledChanges(changed, spilledIn(group), lock)
  }

  /** Adds the records that the transaction has written to a group. */
  private def addWritten(group: Int): Unit = {
    written.clear()
    if (byGroup == null)
      rows.table.eachSlot(group)(content => written.add(HashPages.recordOf(content)))
    else byGroup.addTo(written, group)
    records.touch(written)
    touchRemoved()
    var i = 0
    while (i < written.size) {
      val record = written(i)
      if (records.isRow(record)) changed.put.add(record)
      else if (records.isRemoved(record) && hadRow(group, record)) changed.gone.add(record)
      i += 1
    }
  }

  /** Reads the records that [[hadRow]] asks for, as a prefetch. */
  private def touchRemoved(): Unit = {
    removed.clear()
    var i = 0
    while (i < written.size) {
      if (records.isRemoved(written(i))) removed.add(rows.table.before(written(i)))
      i += 1
    }
    records.touch(removed)
  }

  /** Whether the base has the row of a record that says that it was removed. */
  private def hadRow(group: Int, record: Int): Boolean = {
    val before = rows.table.seenInMemory(rows.table.before(record), baseSight)
    if (before != 0) records.isRow(before)
    else
      coldOfBase(group) != 0 && keysOfBase.contains(records.hash(record), records.key(record, key))
  }

  /** Those in the runs that the transaction has written. */
  private def spilledIn(group: Int): ChangeCursor = {
    val own = cold.newer(rows.cold(group), base.epoch)
    new RunChanges(
      new MergedRuns(new ColdRuns(addresses, cold.files), own),
      (hash, key) => rows.table.find(group, hash, key, sight) != 0,
      keysOfBase
    )
  }
}

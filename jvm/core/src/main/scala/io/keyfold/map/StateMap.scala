package io.keyfold.map

import io.keyfold.mem.Slice
import io.keyfold.mem.arena.MemoryUse
import io.keyfold.model.{Family, FamilySpec, VersionId}

/** The rows of one store in memory, in one or more committed versions.
  *
  * Contract, checked by `StateMapSuiteBase` for every implementation:
  *
  *   - M1 A version, once committed, never changes; it is held until [[retain]] releases it.
  *   - M2 A pinned view stays readable and unchanged until it is released, whatever is written,
  *     committed, aborted or released meanwhile.
  *   - M3 At most one transaction is open at a time. It sees its own writes; nobody else sees them
  *     before the commit.
  *   - M4 An aborted transaction leaves no trace.
  *   - M5 A cursor shows the rows, with all their values, as they were when it was made, each once,
  *     whatever its own transaction writes meanwhile.
  *   - M6 Bytes handed in are copied before the call returns; slices handed out are borrowed and
  *     stay valid until their view is released; those handed to a thread other than the one that
  *     made the view are on the heap and stay valid.
  *   - M7 Once a view is released, no call and no step of a cursor touches its memory: they are
  *     refused, whichever thread makes them. A release waits for a call that is inside.
  *
  * Threads: methods of the map itself may be called by any thread; a view or transaction belongs to
  * one thread at a time, and the caller synchronises handing it over; any thread may abort or
  * release it at any moment.
  */
trait StateMap extends AutoCloseable {

  /** Whether a version can be pinned or a transaction begun on it; if not, the caller loads it into
    * another map.
    */
  def holds(version: VersionId): Boolean

  /** A view of a held version. The caller must release it once. */
  def pin(version: VersionId): MapView

  /** Begins a transaction on a held version; [[VersionId.Empty]] is always held. */
  def begin(base: VersionId): MapTxn

  /** Releases the versions that `keep` refuses. Version 0 stays. */
  def retain(keep: VersionId => Boolean): Unit

  /** Memory of all held versions. */
  def memory: MemoryUse

  /** Files for [[LazyRows]], closed by the caller; None: there is no folder for them. */
  def newLocalBytes(): Option[LocalBytes]
}

/** A consistent view of a version. Families are addressed by index into [[families]]. */
trait MapView {

  /** The families and their sizes. Indices stay the same within a view until a family is dropped.
    */
  def families: IndexedSeq[Family]

  /** Index of a family, or -1. */
  def familyIndex(name: String): Int

  /** Looks up a key.
    *
    * @return
    *   whether it is there; if so, `value` points to its first value
    */
  def get(family: Int, hash: Int, key: Slice, value: Slice): Boolean

  /** The row of a key, if it is there, with all its values. */
  def values(family: Int, hash: Int, key: Slice): RowCursor

  /** All rows of a family, in no particular order (key order if the family is ordered). */
  def scan(family: Int): RowCursor

  /** The rows of an ordered family whose key starts with `prefix`, in key order. */
  def scanPrefix(family: Int, prefix: Slice): RowCursor

  /** The rows of an ordered family with `start <= key < end`, in key order.
    *
    * @param start
    *   null: from the first
    * @param end
    *   null: to the last
    */
  def scanRange(family: Int, start: Slice, end: Slice): RowCursor

  /** The key groups of a family that may have rows, in no particular order: of those that are not
    * in memory it may be known only when they are scanned.
    */
  def groups(family: Int): Array[Int]

  /** All rows of one key group. */
  def scanGroup(family: Int, group: Int): RowCursor

  /** Releases the view. Does nothing when repeated. */
  def release(): Unit
}

/** A version being written. */
trait MapTxn extends MapView with RowSink {

  /** Adds a family; its index is the next one.
    *
    * @return
    *   its index
    */
  def createFamily(spec: FamilySpec): Int

  /** Removes a family with all its rows; the indices above its own go down by one. Another family
    * of that name may be created.
    */
  def dropFamily(family: Int): Unit

  /** Sets the flag `strays` of a family. */
  def markStrays(family: Int): Unit

  /** Names of the base's families that were dropped. */
  def dropped: Seq[String]

  /** The rows of its families come from these when somebody asks for them. The transaction must be
    * on version 0, have no rows, and have these families, none of them ordered. It is committed
    * without any further call. The map closes them.
    *
    * @param sizes
    *   of the families with all these rows
    */
  def putLater(rows: LazyRows, sizes: IndexedSeq[Family]): Unit

  /** Removes the rows of an ordered family with `start <= key < end`; null: as for `scanRange`.
    *
    * @return
    *   number of rows removed
    */
  def removeRange(family: Int, start: Slice, end: Slice): Long

  /** Whether it has the families, with their flags, and rows of the base. */
  def isUnchanged: Boolean

  /** The key groups of a family that the transaction wrote to, in no particular order. */
  def changedGroups(family: Int): Array[Int]

  /** The net changes of one key group against the base, one per key; borrowed until the next call.
    */
  def changes(family: Int, group: Int): ChangeCursor

  /** Commits the rows as `version`, which is held from now on. The transaction stays readable. */
  def commit(version: VersionId): Unit

  /** Discards all writes. Does nothing when repeated, or after [[commit]]. */
  def abort(): Unit
}

/** Steps through rows: `while (cursor.next()) use(cursor.key, cursor.value)`. Slices are reused. */
trait RowCursor {

  /** Steps to the next row and its first value. */
  def next(): Boolean

  /** Steps to the row's next value, in the order they were added; always false if a family has one
    * value per key.
    */
  def nextValue(): Boolean
  def hash: Int
  def key: Slice
  def value: Slice

  /** Ends the cursor: `next` finds no more rows. Does nothing when repeated, or after the last row.
    */
  def close(): Unit
}

/** Steps through changes: a row with all its values, which replace the earlier ones; or
  * (`appended`) a row with only the values that were added; or (`removed`) the key of a deleted
  * row.
  */
trait ChangeCursor extends RowCursor {
  def appended: Boolean
  def removed: Boolean
}

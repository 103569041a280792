package io.keyfold.store

import io.keyfold.errors.Invalid
import io.keyfold.format.{FamilySpec, VersionId}
import io.keyfold.map.{MapView, RowCursor}
import io.keyfold.mem.Slice

/** A version to read. Families are addressed by index into those that the store was opened with.
  *
  * Slices are borrowed until the view is released (a transaction: until it ends). Belongs to one
  * thread at a time.
  */
class StoreView private[store] (
    private[store] val rows: MapView,
    val version: VersionId,
    location: StoreLocation,
    families: Seq[FamilySpec],
    private[store] val seal: RowSeal
) {

  /** Index in `rows` of each family; -1 if this version has no rows of it. */
  protected val indices: Array[Int] = families.map(indexOf).toArray

  /** Rows of a family. */
  def keys(family: Int): Long = {
    val index = indices(family)
    if (index < 0) 0L else rows.families(index).keys
  }

  /** Bytes of keys and values of all families. */
  def bytes: Long = rows.families.iterator.map(seal.withoutSeals(_).bytes).sum

  def get(family: Int, hash: Int, key: Slice, value: Slice): Boolean = {
    val index = indices(family)
    index >= 0 && rows.get(index, hash, key, value) && {
      seal.read(key, value)
      true
    }
  }

  /** The row of a key, if it is there, with all its values. */
  def values(family: Int, hash: Int, key: Slice): RowCursor = {
    val index = indices(family)
    if (index < 0) StoreView.NoRows else seal.reading(rows.values(index, hash, key))
  }

  def scan(family: Int): RowCursor = {
    val index = indices(family)
    if (index < 0) StoreView.NoRows else seal.reading(rows.scan(index))
  }

  def scanPrefix(family: Int, prefix: Slice): RowCursor = {
    val index = indices(family)
    if (index < 0) StoreView.NoRows else seal.reading(rows.scanPrefix(index, prefix))
  }

  /** Rows of an ordered family with `start <= key < end`, in key order; null: no bound. */
  def scanRange(family: Int, start: Slice, end: Slice): RowCursor = {
    val index = indices(family)
    if (index < 0) StoreView.NoRows else seal.reading(rows.scanRange(index, start, end))
  }

  def release(): Unit = rows.release()

  private def indexOf(wanted: FamilySpec): Int = {
    val index = rows.familyIndex(wanted.name)
    if (index >= 0 && rows.families(index).spec != wanted) {
      throw new Invalid(
        "KEYFOLD_FAMILY_MISMATCH",
        s"Cannot use $location version $version: its files hold column family " +
          s"${rows.families(index).spec}, the query wants $wanted. The query's stateful operator has " +
          "changed; start it on a new checkpoint location."
      )
    }
    index
  }
}

private object StoreView {
  private object NoRows extends RowCursor {
    override def next(): Boolean = false
    override def nextValue(): Boolean = false
    override def hash: Int = 0
    override val key: Slice = new Slice
    override val value: Slice = new Slice
  }
}

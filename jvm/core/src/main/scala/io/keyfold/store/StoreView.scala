package io.keyfold.store

import io.keyfold.errors.FamilyMismatch
import io.keyfold.map.{MapView, RowCursor}
import io.keyfold.mem.Slice
import io.keyfold.model.{Family, FamilySpec, StoreLocation, VersionId}
import io.keyfold.store.file.RowChecksum

/** A view of one version. Families are addressed by index into [[families]]; index -1 reads as an
  * empty family.
  *
  * Slices are borrowed until the view is released (a transaction: until it ends). Belongs to one
  * thread at a time.
  */
class StoreView private[store] (
    private[store] val rows: MapView,
    val version: VersionId,
    location: StoreLocation,
    private[store] val rowChecksum: RowChecksum
) {
  import StoreView._

  /** The version's families and their sizes. */
  def families: IndexedSeq[Family] = rows.families.map(rowChecksum.withoutChecksums)

  /** Index of the family of that name; -1 if there is none.
    *
    * @throws io.keyfold.errors.FamilyMismatch
    *   if its encodings, order or number of values per key differ from `wanted`. Schemas and the
    *   partition rule are not compared: the version's own count.
    */
  def indexOf(wanted: FamilySpec): Int = {
    val index = rows.familyIndex(wanted.name)
    if (index >= 0 && shape(rows.families(index).spec) != shape(wanted)) {
      val found = rows.families(index).spec
      throw new FamilyMismatch(
        s"Cannot use $location version $version: column family ${wanted.name} has ${found.inWords} in " +
          s"its files, and ${wanted.inWords} in the query. If it is a state variable of " +
          "transformWithState that was of another kind before, give the new one another name, or " +
          "remove the old one by `deleteIfExists` in a run that does not use it. Otherwise the " +
          "query's stateful operator has changed: start it on a new checkpoint location.",
        found.inWords,
        wanted.inWords
      )
    }
    index
  }

  def get(family: Int, hash: Int, key: Slice, value: Slice): Boolean = {
    requireReadable("get")
    requirePlace(family, hash)
    family >= 0 && rows.get(family, hash, key, value) && {
      rowChecksum.read(key, value)
      true
    }
  }

  /** The row of a key, if it is there, with all its values. */
  def values(family: Int, hash: Int, key: Slice): RowCursor = {
    requireReadable("get values")
    requirePlace(family, hash)
    if (family < 0) NoRows else rowChecksum.reading(rows.values(family, hash, key))
  }

  def scan(family: Int): RowCursor = {
    requireReadable("scan")
    if (family < 0) NoRows else rowChecksum.reading(rows.scan(family))
  }

  def scanPrefix(family: Int, prefix: Slice): RowCursor = {
    requireReadable("scanPrefix")
    if (family < 0) NoRows else rowChecksum.reading(rows.scanPrefix(family, prefix))
  }

  /** Rows of an ordered family with `start <= key < end`, in key order; null: no bound. */
  def scanRange(family: Int, start: Slice, end: Slice): RowCursor = {
    requireReadable("scanRange")
    if (family < 0) NoRows else rowChecksum.reading(rows.scanRange(family, start, end))
  }

  /** Refuses a read of a transaction that was aborted. */
  protected def requireReadable(what: String): Unit = ()

  /** Called before a look for the rows of a key, also by other means than its hash.
    *
    * @throws io.keyfold.errors.MisplacedRow
    *   if this writes a partition in which they cannot be
    */
  def requirePlace(family: Int, hash: Int): Unit = ()

  def release(): Unit = rows.release()
}

private object StoreView {
  private def shape(spec: FamilySpec) =
    (spec.keyEncoding, spec.rowEncoding, spec.ordered, spec.multiValue)

  private object NoRows extends RowCursor {
    override def next(): Boolean = false
    override def nextValue(): Boolean = false
    override def hash: Int = 0
    override val key: Slice = new Slice
    override val value: Slice = new Slice
    override def close(): Unit = ()
  }
}

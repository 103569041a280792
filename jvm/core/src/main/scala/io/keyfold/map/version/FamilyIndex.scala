package io.keyfold.map.version

import io.keyfold.map.value.IntList
import io.keyfold.model.{Family, FamilySpec}

/** One family in one version: its counts and the root of its index. Written by one transaction,
  * then immutable.
  */
private[map] sealed abstract class FamilyIndex(initial: FamilySpec) {
  var spec: FamilySpec = initial
  var keys = 0L
  var values = 0L
  var bytes = 0L

  /** A copy for the next transaction to write to. */
  def copy(): FamilyIndex

  /** A record that an earlier version shares was removed from the index. */
  def hasRetired(record: Int): Unit = ()

  def family: Family = Family(spec, keys, values, bytes)

  protected def counted[T <: FamilyIndex](to: T): T = {
    to.keys = keys
    to.values = values
    to.bytes = bytes
    to
  }
}

/** A trie for each key group, and its rows that are not in memory.
  *
  * @param number
  *   of the family in its map
  * @param cold
  *   the newest run of each group, see [[io.keyfold.map.cold.ColdRun]]. Only rows that the trie has
  *   no record for, not even of a removed row, are read from there.
  */
private[map] final class HashedIndex(
    initial: FamilySpec,
    val number: Int,
    val roots: GroupTable,
    val cold: GroupTable
) extends FamilyIndex(initial) {

  /** Whether the transaction removed a row: if not, a commit need not look for removed ones. */
  var anyRemoved = false

  override def copy(): HashedIndex = counted(
    new HashedIndex(spec, number, roots.copy(), cold.copy())
  )
}

/** One tree in key order. */
private[map] final class OrderedIndex(initial: FamilySpec, var root: Int)
    extends FamilyIndex(initial) {

  /** Records of earlier versions that the transaction replaced or removed. */
  val gone = new IntList

  override def hasRetired(record: Int): Unit = gone.add(record)

  override def copy(): OrderedIndex = counted(new OrderedIndex(spec, root))
}

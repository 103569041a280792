package io.keyfold.map.version

import io.keyfold.map.hash.{HashTable, Journal}
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

  def family: Family = Family(spec, keys, values, bytes)

  protected def counted[T <: FamilyIndex](to: T): T = {
    to.keys = keys
    to.values = values
    to.bytes = bytes
    to
  }
}

/** A hash table, which all versions share, and the rows that are not in memory.
  *
  * @param cold
  *   the newest run of each group, see [[io.keyfold.map.cold.ColdRun]]. Only rows that the version
  *   has no record for, not even of a removed row, are read from there.
  */
private[map] final class HashedIndex(
    initial: FamilySpec,
    val table: HashTable,
    val cold: GroupTable
) extends FamilyIndex(initial) {
  table.users += 1

  /** What the transaction, or those whose versions were merged into this one, have written. */
  val journal = new Journal

  override def copy(): HashedIndex = counted(new HashedIndex(spec, table, cold.copy()))
}

/** One tree in key order. */
private[map] final class OrderedIndex(initial: FamilySpec, var root: Int)
    extends FamilyIndex(initial) {

  /** Records of earlier versions that the transaction replaced or removed. */
  val gone = new IntList

  override def copy(): OrderedIndex = counted(new OrderedIndex(spec, root))
}

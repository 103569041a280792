package io.keyfold.map.version

import io.keyfold.map.value.IntList
import io.keyfold.model.{Family, FamilySpec}

/** One family in one version: its counts, and where its index begins. Written by one transaction;
  * after that it never changes.
  */
private[map] sealed abstract class FamilyIndex(val spec: FamilySpec) {
  var keys = 0L
  var values = 0L
  var bytes = 0L

  /** The same, for the next transaction to write to. */
  def copy(): FamilyIndex

  /** A record that an earlier version has too has left the index. */
  def hasRetired(record: Int): Unit = ()

  def family: Family = Family(spec, keys, values, bytes)

  protected def counted[T <: FamilyIndex](to: T): T = {
    to.keys = keys
    to.values = values
    to.bytes = bytes
    to
  }
}

/** A trie for each key group. */
private[map] final class HashedIndex(spec: FamilySpec, val roots: GroupTable)
    extends FamilyIndex(spec) {

  /** Whether its transaction has taken a row out: if not, a commit need not look for any. */
  var anyRemoved = false

  override def copy(): HashedIndex = counted(new HashedIndex(spec, roots.copy()))
}

/** One tree in the order of keys. */
private[map] final class OrderedIndex(spec: FamilySpec, var root: Int) extends FamilyIndex(spec) {

  /** Records of earlier versions that its transaction has replaced or removed. */
  val gone = new IntList

  override def hasRetired(record: Int): Unit = gone.add(record)

  override def copy(): OrderedIndex = counted(new OrderedIndex(spec, root))
}

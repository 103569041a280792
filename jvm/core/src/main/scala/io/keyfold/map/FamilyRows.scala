package io.keyfold.map

import io.keyfold.format.{Family, FamilySpec}

/** One family in one version: its counts, and where its index begins. Written by one transaction;
  * after that it never changes.
  */
private[map] sealed abstract class FamilyRows(val spec: FamilySpec) {
  var keys = 0L
  var values = 0L
  var bytes = 0L

  /** The same, for the next transaction to write to. */
  def copy(): FamilyRows

  def family: Family = Family(spec, keys, values, bytes)

  protected def counted[T <: FamilyRows](to: T): T = {
    to.keys = keys
    to.values = values
    to.bytes = bytes
    to
  }
}

/** A trie for each key group. */
private[map] final class HashedRows(spec: FamilySpec, val roots: GroupTable)
    extends FamilyRows(spec) {

  /** Whether its transaction has taken a row out: if not, a commit need not look for any. */
  var anyRemoved = false

  override def copy(): HashedRows = counted(new HashedRows(spec, roots.copy()))
}

/** One tree in the order of keys. */
private[map] final class OrderedRows(spec: FamilySpec, var root: Int) extends FamilyRows(spec) {

  /** Records of earlier versions that its transaction has replaced or removed. */
  val gone = new IntList

  override def copy(): OrderedRows = counted(new OrderedRows(spec, root))
}

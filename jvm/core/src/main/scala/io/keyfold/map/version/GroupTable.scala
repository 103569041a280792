package io.keyfold.map.version

import java.lang.invoke.VarHandle

import scala.collection.mutable

/** A handle for each key group, that of its newest run, 0 if it has none. A persistent array in
  * blocks of 64 groups, so a transaction copies only the blocks it writes to, and absent groups
  * cost nothing.
  */
private[map] final class GroupTable private (blocks: Array[Array[Int]]) {
  import GroupTable._

  private val owned = new Array[Boolean](blocks.length)

  def apply(group: Int): Int = {
    val block = blocks(group >> Bits)
    if (block == null) 0 else block(group & Mask)
  }

  def update(group: Int, root: Int): Unit = {
    val b = group >> Bits
    if (!owned(b)) {
      val block = blocks(b)
      val own = if (block == null) new Array[Int](1 << Bits) else block.clone()
      // Others may be reading handles of this block: see LazyLoad.
      VarHandle.releaseFence()
      blocks(b) = own
      owned(b) = true
    }
    blocks(b)(group & Mask) = root
  }

  /** A writable copy. What is written to this table later may show in the copy too: only what is to
    * be the same in both may be.
    */
  def copy(): GroupTable = new GroupTable(blocks.clone())

  /** Groups that have a handle, ascending. */
  def groups: Array[Int] = select(_ => true)((_, root) => root != 0)

  /** Groups whose handle differs from that in `other`, ascending. */
  def differing(other: GroupTable): Array[Int] =
    select(b => blocks(b) ne other.block(b))((group, root) => root != other(group))

  private def block(b: Int) = blocks(b)

  private def select(look: Int => Boolean)(take: (Int, Int) => Boolean): Array[Int] = {
    val found = mutable.ArrayBuilder.make[Int]
    for (b <- blocks.indices if blocks(b) != null && look(b); i <- 0 to Mask) {
      val group = (b << Bits) + i
      if (take(group, blocks(b)(i))) found += group
    }
    found.result()
  }
}

private[map] object GroupTable {
  private val Bits = 6
  private val Mask = (1 << Bits) - 1

  def empty(keyGroups: Int): GroupTable =
    new GroupTable(new Array[Array[Int]]((keyGroups + Mask) >> Bits))
}

package io.keyfold.map.ordered

import io.keyfold.map.cold.{ColdBlock, ColdFiles, ColdRow}
import io.keyfold.mem.Slice

/** Reads rows of leaves that are in files; the block that it has read last, once. Slices that it
  * hands out are on the heap and stay valid. Belongs to one thread at a time.
  */
private[map] final class ColdLeaf(files: ColdFiles) {
  private val block = new ColdBlock(isHashed = false)

  /** Address of the leaf, and which of its blocks was read last, from where. */
  private var leaf = 0L
  private var at = -1
  private var source: AnyRef = _
  private var index = 0
  private var until: Slice = _
  private var endsWithBlock = false

  /** The row of a key, before its first value, until the next call; null if there is none. */
  def find(leaf: Long, key: Slice): ColdRow = {
    seek(leaf, key)
    if (index < block.rows && block.row(index).hasKey(key)) block.row(index) else null
  }

  /** Starts before the first row whose key is not below `from`.
    *
    * @param until
    *   the end, exclusive; null: the last row of the leaf
    * @return
    *   whether there is a row
    */
  def start(leaf: Long, from: Slice, behind: Boolean, until: Slice): Boolean = {
    seek(leaf, from)
    if (behind && index < block.rows && block.row(index).hasKey(from)) index += 1
    this.until = until
    endsWithBlock = false
    index -= 1
    val isThere = next()
    if (isThere) index -= 1
    isThere
  }

  /** Starts before the first row of a leaf. */
  def start(leaf: Long): Unit = {
    this.leaf = leaf
    read(0)
    until = null
    endsWithBlock = false
    index = -1
  }

  /** Steps to the next row. */
  def next(): Boolean = {
    index += 1
    if (index >= block.rows && !endsWithBlock && at + 1 < TreePages.blocks(leaf)) {
      read(at + 1)
      index = 0
    }
    index < block.rows && (until == null || block.row(index).compareKey(until) < 0)
  }

  /** The row that it has stepped to, before its first value; the same object for each call. */
  def row: ColdRow = block.row(index)

  /** There are no rows behind those of the block that it has read. The leaf may go. */
  def endWithBlock(): Unit = endsWithBlock = true

  /** The last key of the block that it has read. */
  def lastKey: Slice = block.row(block.rows - 1).key(new Slice)

  /** Whether all rows that are left are in the block that it has read. */
  def endsInBlock: Boolean =
    until != null && block.rows > 0 && block.row(block.rows - 1).compareKey(until) >= 0

  /** Whether it has stepped behind the last row of the leaf. */
  def isAtEnd: Boolean = index >= block.rows

  /** To the first row whose key is not below `key`, or behind the last row of the block before. */
  private def seek(leaf: Long, key: Slice): Unit = {
    this.leaf = leaf
    var low = 0
    var high = TreePages.blocks(leaf) - 1
    while (low < high) {
      val middle = (low + high + 1) >>> 1
      read(middle)
      if (block.row(0).compareKey(key) <= 0) low = middle else high = middle - 1
    }
    read(low)
    index = block.lowerBound(key)
  }

  private def read(i: Int): Unit = {
    val from = files.placeOf(TreePages.file(leaf))
    if (i != at || (from ne source)) {
      // If it fails, the block is of no leaf.
      source = null
      readNew(i)
      source = from
      at = i
    }
  }

  private def readNew(i: Int): Unit = {
    val start = if (i == 0) 0 else TreePages.blockEnd(leaf, i - 1)
    files.readBlock(TreePages.file(leaf), start, TreePages.blockEnd(leaf, i) - start, block)
  }
}

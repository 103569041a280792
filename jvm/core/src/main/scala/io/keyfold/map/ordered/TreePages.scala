package io.keyfold.map.ordered

import io.keyfold.map.version.PageHeader
import io.keyfold.mem.{Mem, Slice}

/** The pages of an ordered tree; all accessors take an address. One thread writes a page before its
  * version is published. A cold leaf takes the place of a leaf in all versions, while nobody reads.
  *
  * {{{
  * leaf    0  i32  epoch       branch  0  i32  epoch
  *         4  i32  0                   4  i32  1
  *         8  i32  entries             8  i32  entries
  *        12  i32  0                  12  i32  0
  *        16  i32 x 64  records       16  (i32 page, i32 separator) x 64
  *
  * cold leaf   0  i32  epoch       separator  0  i32  epoch
  *             4  i32  2 x blocks b (+ 1)     4  i32  length in bytes, all bits turned
  *             8  i32  entries                8       the smallest key that may be in its page
  *            12  i32  number in ColdFiles
  *            16  i32 x b  end of each block in bytes
  * }}}
  *
  * The first entry of a branch has no separator. Entries are sorted by key as unsigned bytes. The
  * rows of a cold leaf are in blocks of a file; it is of kind 3 if they have several values per
  * key.
  */
private[map] object TreePages extends PageHeader {
  val Capacity = 64
  private val SeparatorHeader = 8
  private val LeafLength = HeaderLength + Capacity * 4
  private val BranchLength = HeaderLength + Capacity * 8

  private val Leaf = 0
  private val Branch = 1

  def isBranch(at: Long): Boolean = kind(at) == Branch

  def pageLength(branch: Boolean): Int = if (branch) BranchLength else LeafLength
  def initialize(at: Long, epoch: Int, branch: Boolean): Unit = {
    Mem.fill(at, pageLength(branch).toLong, 0)
    setEpoch(at, epoch)
    setKind(at, if (branch) Branch else Leaf)
  }

  /** Begins a cold leaf; the ends of its blocks are to be set.
    *
    * @param list
    *   whether its rows have several values per key
    * @param file
    *   number in ColdFiles
    */
  def initializeCold(
      at: Long,
      epoch: Int,
      list: Boolean,
      entries: Int,
      file: Int,
      blocks: Int
  ): Unit = {
    setEpoch(at, epoch)
    setKind(at, blocks * 2 + (if (list) 1 else 0))
    setEntries(at, entries)
    setFile(at, file)
  }

  /** Bytes of a cold leaf. */
  def coldLength(blocks: Int): Int = HeaderLength + blocks * 4

  /** Whether the rows of a cold leaf have several values per key. */
  def isOfLists(at: Long): Boolean = (kind(at) & 1) == 1

  /** Number of blocks of a cold leaf. */
  def blocks(at: Long): Int = kind(at) >> 1

  def blockEnd(at: Long, i: Int): Int = Mem.getInt(null, at + HeaderLength + i * 4L)
  def setBlockEnd(at: Long, i: Int, end: Int): Unit =
    Mem.putInt(null, at + HeaderLength + i * 4L, end)

  def record(at: Long, i: Int): Int = Mem.getInt(null, at + HeaderLength + i * 4L)
  def setRecord(at: Long, i: Int, record: Int): Unit =
    Mem.putInt(null, at + HeaderLength + i * 4L, record)

  def child(at: Long, i: Int): Int = Mem.getInt(null, at + HeaderLength + i * 8L)
  def setChild(at: Long, i: Int, page: Int): Unit =
    Mem.putInt(null, at + HeaderLength + i * 8L, page)
  def separator(at: Long, i: Int): Int = Mem.getInt(null, at + HeaderLength + i * 8L + 4)
  def setSeparator(at: Long, i: Int, separator: Int): Unit =
    Mem.putInt(null, at + HeaderLength + i * 8L + 4, separator)

  /** Makes room for an entry at `i`. */
  def open(at: Long, i: Int): Unit = {
    move(at, i, at, i + 1, entries(at) - i)
    setEntries(at, entries(at) + 1)
  }

  /** Removes the entry at `i`. */
  def close(at: Long, i: Int): Unit = {
    move(at, i + 1, at, i, entries(at) - i - 1)
    setEntries(at, entries(at) - 1)
  }

  /** Moves the entries of `from` from index `start` on to the end of `to`. */
  def moveTail(from: Long, start: Int, to: Long): Unit = {
    val count = entries(from) - start
    move(from, start, to, entries(to), count)
    setEntries(to, entries(to) + count)
    setEntries(from, start)
  }

  private def move(from: Long, i: Int, to: Long, j: Int, count: Int): Unit = {
    val width = if (isBranch(from)) 8L else 4L
    Mem.move(
      null,
      from + HeaderLength + i * width,
      null,
      to + HeaderLength + j * width,
      (count * width).toInt
    )
  }

  def separatorLength(key: Slice): Int = SeparatorHeader + key.length
  def writeSeparator(at: Long, epoch: Int, key: Slice): Unit = {
    setEpoch(at, epoch)
    setKind(at, ~key.length)
    Mem.copy(key.base, key.offset, null, at + SeparatorHeader, key.length)
  }
  def compareSeparator(at: Long, key: Slice): Int = {
    val length = ~kind(at)
    Mem.compare(null, at + SeparatorHeader, length, key.base, key.offset, key.length)
  }
}

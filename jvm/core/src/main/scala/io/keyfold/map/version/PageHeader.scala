package io.keyfold.map.version

import io.keyfold.mem.Mem

/** The common header of index pages: 16 bytes; the first four are the epoch, the second four say
  * what kind of page it is, the third four are the number of entries, and the last four a number in
  * ColdFiles if the page is a cold leaf. A tree's separators have their epoch in the same place,
  * and a negative number in that of the kind.
  */
private[map] trait PageHeader {
  final val HeaderLength = 16

  def epoch(at: Long): Int = Mem.getInt(null, at)
  def setEpoch(at: Long, epoch: Int): Unit = Mem.putInt(null, at, epoch)
  def kind(at: Long): Int = Mem.getInt(null, at + 4)
  def setKind(at: Long, kind: Int): Unit = Mem.putInt(null, at + 4, kind)

  /** Whether it is a leaf whose rows are in a file. */
  def isCold(at: Long): Boolean = kind(at) >= 2

  /** Number of a cold leaf's rows in ColdFiles. */
  def file(at: Long): Int = Mem.getInt(null, at + 12)
  def setFile(at: Long, file: Int): Unit = Mem.putInt(null, at + 12, file)
  def entries(at: Long): Int = Mem.getInt(null, at + 8)
  def setEntries(at: Long, count: Int): Unit = Mem.putInt(null, at + 8, count)
}

private[map] object PageHeader extends PageHeader

package io.keyfold.map.version

import io.keyfold.mem.Mem

/** The common header of index pages: 16 bytes; the first four are the epoch, the third four the
  * number of entries. A tree's separators have their epoch in the same place.
  */
private[map] trait PageHeader {
  final val HeaderLength = 16

  def epoch(at: Long): Int = Mem.getInt(null, at)
  def setEpoch(at: Long, epoch: Int): Unit = Mem.putInt(null, at, epoch)
  def entries(at: Long): Int = Mem.getInt(null, at + 8)
  def setEntries(at: Long, count: Int): Unit = Mem.putInt(null, at + 8, count)
}

private[map] object PageHeader extends PageHeader

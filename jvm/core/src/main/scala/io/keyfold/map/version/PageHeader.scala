package io.keyfold.map.version

import io.keyfold.mem.Mem

/** What all index pages begin with: 16 bytes, of which the first four are the epoch, the third four
  * the number of entries. A tree's separators have an epoch in the same place.
  */
private[map] trait PageHeader {
  final val HeaderLength = 16

  def epoch(at: Long): Int = Mem.getInt(null, at)
  def setEpoch(at: Long, epoch: Int): Unit = Mem.putInt(null, at, epoch)
  def entries(at: Long): Int = Mem.getInt(null, at + 8)
  def setEntries(at: Long, count: Int): Unit = Mem.putInt(null, at + 8, count)
}

private[map] object PageHeader extends PageHeader

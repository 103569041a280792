package io.keyfold.map.cold

import io.keyfold.mem.Slice
import io.keyfold.mem.arena.Addresses

/** Looks up rows in the runs of key groups. Belongs to one thread at a time. */
private[map] final class ColdRuns(val addresses: Addresses, val files: ColdFiles) {
  private val block = new ColdBlock(isHashed = true)

  /** Epoch of the run that has the row found last. */
  var epoch = 0

  /** The newest row of a key, before its first value, until the next call.
    *
    * @param newest
    *   of the group's runs; 0: there is none
    * @param indexHash
    *   the hash by which runs are ordered
    * @param hash
    *   of the row
    * @return
    *   null if there is none or it was removed
    */
  def find(newest: Int, indexHash: Int, hash: Int, key: Slice): ColdRow = {
    var run = newest
    while (run != 0) {
      val at = addresses.of(run)
      val row =
        if (ColdRun.isLazy(at)) {
          files.lazyRuns.find(ColdRun.file(at), indexHash, hash, key, block)
        } else if (ColdRun.mayHave(at, indexHash)) findIn(at, indexHash, key)
        else null
      if (row != null) {
        epoch = ColdRun.epoch(at)
        return if (row.isRemoved) null else row
      }
      run = ColdRun.older(at)
    }
    null
  }

  private def findIn(at: Long, hash: Int, key: Slice): ColdRow = {
    var i = ColdRun.blockOf(at, hash)
    while (i < ColdRun.blocks(at) && Integer.compareUnsigned(ColdRun.firstHash(at, i), hash) <= 0) {
      val row = read(at, i, block).find(hash, key)
      if (row != null) return row
      i += 1
    }
    null
  }

  /** Reads a block of the run at this address. */
  def read(at: Long, i: Int, into: ColdBlock): ColdBlock = {
    val start = ColdRun.start(at, i)
    files.readBlock(ColdRun.file(at), start, ColdRun.end(at, i) - start, into)
    into
  }
}

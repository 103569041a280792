package io.keyfold.map.cold

import io.keyfold.mem.Slice
import io.keyfold.mem.arena.Addresses

/** Looks up rows in the runs of key groups. Belongs to one thread at a time. */
private[map] final class ColdRuns(val addresses: Addresses, val files: ColdFiles) {
  private val block = new ColdBlock(isHashed = true)
  private val blocks = new RunBlocks

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
          files.lazyRuns.find(ColdRun.file(at), indexHash, hash, key, blocks, block)
        } else if (ColdRun.mayHave(at, indexHash)) {
          ColdRun.point(blocks, files, at).find(indexHash, key, block)
        } else null
      if (row != null) {
        epoch = ColdRun.epoch(at)
        return if (row.isRemoved) null else row
      }
      run = ColdRun.older(at)
    }
    null
  }

  /** Where the group is in the order of the files, if it has a lazy run; else -1.
    *
    * @param newest
    *   of the group's runs
    */
  def lazyPlace(newest: Int): Int = {
    val run = lazyRun(newest)
    if (run < 0) -1 else files.lazyRuns.place(run)
  }

  /** The group's runs, newest first, for a scan. */
  def toScan(newest: Int): List[Int] = {
    val run = lazyRun(newest)
    if (run >= 0) files.lazyRuns.scanned(run)
    ColdRun.list(addresses, newest)
  }

  /** The number of the oldest run if it is lazy, else -1. */
  private def lazyRun(newest: Int): Int = ColdRun.list(addresses, newest).lastOption match {
    case Some(run) if ColdRun.isLazy(addresses.of(run)) => ColdRun.file(addresses.of(run))
    case _                                              => -1
  }
}

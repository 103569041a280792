package io.keyfold.map.cold

import io.keyfold.mem.arena.Arena

/** The runs of a map: their files, and what is in memory of them. */
private[map] final class ColdSpace(val arena: Arena, val files: ColdFiles) {

  def free(run: Int): Unit = {
    val at = arena.addresses.of(run)
    if (ColdRun.isLazy(at)) files.lazyRuns.remove(ColdRun.file(at))
    else files.remove(ColdRun.file(at))
    arena.free(run)
  }

  def epoch(run: Int): Int = ColdRun.epoch(arena.addresses.of(run))

  /** The runs of a list that were written after an epoch, newest first. */
  def newer(newest: Int, epoch: Int): List[Int] = list(newest).takeWhile(this.epoch(_) > epoch)

  /** Whether the rows that were written with a run go on in the next newer one. */
  def isFull(run: Int): Boolean = {
    val at = arena.addresses.of(run)
    !ColdRun.isLazy(at) && files.lengthOf(ColdRun.file(at)) > ColdRunWriter.MostBytes
  }

  /** Whether one of the runs may have a row with this index hash. */
  def mayHave(newest: Int, hash: Int): Boolean = {
    var run = newest
    while (run != 0 && !ColdRun.mayHave(arena.addresses.of(run), hash)) {
      run = ColdRun.older(arena.addresses.of(run))
    }
    run != 0
  }

  def list(newest: Int): List[Int] = ColdRun.list(arena.addresses, newest)
}

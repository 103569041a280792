package io.keyfold.map.version

import io.keyfold.map.cold.ColdSpace

/** The runs of a transaction: when replaced ones are freed, as [[PageSpace]] does for index pages.
  */
private[map] final class RunSpace(val cold: ColdSpace, node: VersionNode) {

  /** Whether the transaction has written the run; 0: there is none. */
  def isOwn(run: Int): Boolean = run != 0 && cold.epoch(run) > node.base.epoch

  /** The transaction's rows no longer need the run. */
  def retire(run: Int): Unit =
    if (cold.epoch(run) > node.cursors.frozen) cold.free(run) else node.retired.addRun(run)
}

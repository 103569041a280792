package io.keyfold.map.version

import io.keyfold.map.cold.ColdSpace

/** The runs of a transaction: when replaced ones are freed, as [[PageSpace]] does for index pages.
  */
private[map] final class RunSpace(val cold: ColdSpace, node: VersionNode) {

  /** The transaction's rows no longer need the run. */
  def retire(run: Int): Unit =
    if (cold.epoch(run) > node.cursors.frozen) cold.free(run) else node.retired.addRun(run)
}

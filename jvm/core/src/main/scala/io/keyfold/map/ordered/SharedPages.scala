package io.keyfold.map.ordered

import java.util.Arrays

import io.keyfold.map.value.IntList
import io.keyfold.mem.arena.Addresses

/** Which pages of the oldest version's trees all later versions have too: those to which the pages
  * that a later version has copied lead, and all below them.
  *
  * @param epoch
  *   the last of the oldest version
  * @param later
  *   the roots of each later version's trees
  */
private[map] final class SharedPages(addresses: Addresses, epoch: Int, later: Seq[Seq[Int]]) {

  /** Once for each version that leads to it. */
  private val led = {
    val list = new IntList
    for (roots <- later; root <- roots) follow(root, list)
    val sorted = list.toArray
    Arrays.sort(sorted)
    sorted
  }

  private def follow(page: Int, into: IntList): Unit = if (page != 0) {
    val at = addresses.of(page)
    if (TreePages.epoch(at) <= epoch) into.add(page)
    else if (TreePages.isBranch(at)) {
      var i = 0
      while (i < TreePages.entries(at)) {
        follow(TreePages.child(at, i), into)
        i += 1
      }
    }
  }

  /** Number of versions that have the page but not, or not that way, the page above it. */
  def count(page: Int): Int = {
    val found = Arrays.binarySearch(led, page)
    if (found < 0) 0
    else {
      var from = found
      while (from > 0 && led(from - 1) == page) from -= 1
      var until = found + 1
      while (until < led.length && led(until) == page) until += 1
      until - from
    }
  }

  /** Whether all versions have a page.
    *
    * @param counted
    *   sum of [[count]] from the root to the page
    */
  def isComplete(counted: Int): Boolean = counted == later.size
}

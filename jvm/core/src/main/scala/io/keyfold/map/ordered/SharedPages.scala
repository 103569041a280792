package io.keyfold.map.ordered

import java.util.Arrays

import io.keyfold.map.value.IntList
import io.keyfold.map.version.OrderedIndex
import io.keyfold.mem.arena.Addresses

/** Which pages of the oldest version's trees all later versions have too: those to which the pages
  * that a later version has copied lead, and all below them.
  *
  * @param epoch
  *   the last of the oldest version
  * @param later
  *   the ordered families of each later version
  */
private[map] final class SharedPages(
    addresses: Addresses,
    epoch: Int,
    later: Seq[Seq[OrderedIndex]]
) {
  import SharedPages._

  private val families = later.flatten

  /** Where a later version has such a page: in an entry of a branch that it has copied, or, with 0
    * in the place of the branch, as the root of the family with this index.
    */
  private val branches = new IntList
  private val entries = new IntList

  /** The pages, each with the index of its place in the lower half; sorted. */
  private val led = {
    val pages = new IntList
    for (i <- families.indices) follow(families(i).root, 0, i, pages)
    val sorted = Array.tabulate(pages.size)(i => keyOf(pages(i)) | i)
    Arrays.sort(sorted)
    sorted
  }

  private def follow(page: Int, branch: Int, entry: Int, into: IntList): Unit = if (page != 0) {
    val at = addresses.of(page)
    if (TreePages.epoch(at) <= epoch) {
      // Of a cold leaf nobody asks.
      if (!TreePages.isCold(at)) {
        into.add(page)
        branches.add(branch)
        entries.add(entry)
      }
    } else if (TreePages.isBranch(at)) {
      var i = 0
      while (i < TreePages.entries(at)) {
        follow(TreePages.child(at, i), page, i, into)
        i += 1
      }
    }
  }

  /** Number of versions that have the page but not, or not that way, the page above it. */
  def count(page: Int): Int = firstOf(keyOf(page) + PlaceLimit) - firstOf(keyOf(page))

  /** Whether all versions have a page.
    *
    * @param counted
    *   sum of [[count]] from the root to the page
    */
  def isComplete(counted: Int): Boolean = counted == later.size

  /** Puts another page in the places that [[count]] has counted. */
  def replace(page: Int, other: Int): Unit =
    for (i <- firstOf(keyOf(page)) until firstOf(keyOf(page) + PlaceLimit)) {
      val place = led(i).toInt
      if (branches(place) == 0) families(entries(place)).root = other
      else TreePages.setChild(addresses.of(branches(place)), entries(place), other)
    }

  /** Index of the first that is not below `key`; none is there twice. */
  private def firstOf(key: Long): Int = {
    val at = Arrays.binarySearch(led, key)
    if (at < 0) ~at else at
  }
}

private object SharedPages {
  private val PlaceLimit = 1L << 32

  private def keyOf(page: Int): Long = page.toLong << 32
}

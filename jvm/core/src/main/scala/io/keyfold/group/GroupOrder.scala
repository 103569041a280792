package io.keyfold.group

/** The order of key groups inside a file (docs/FORMAT.md, section 6): digit-reversed, so that the
  * groups that a later rescale by a common factor takes together are adjacent.
  */
final class GroupOrder(partitions: Int, val groups: Int) {
  private val step = if (partitions > 0 && groups % partitions == 0) partitions else 1
  private val radices = GroupOrder.primeFactors(groups / step)
  private val ranks = Array.tabulate((groups + step - 1) / step)(computeRank)

  /** Sort key of a group among those of its partition. */
  def rank(group: Int): Int = ranks(group / step)

  /** Whether splitting the partition by the smallest remaining factor of G separates these groups.
    */
  def isSplitBetween(group: Int, other: Int): Boolean =
    radices.nonEmpty && (group / step) % radices(0) != (other / step) % radices(0)

  private def computeRank(place: Int): Int = {
    var rest = place
    var result = 0
    var i = 0
    while (i < radices.length) {
      result = result * radices(i) + rest % radices(i)
      rest /= radices(i)
      i += 1
    }
    result
  }

  /** The groups sorted by rank; groups of equal rank keep their order. */
  def sorted(unordered: Array[Int]): Array[Int] = {
    val starts = new Array[Int](ranks.length + 1)
    var i = 0
    while (i < unordered.length) {
      starts(rank(unordered(i)) + 1) += 1
      i += 1
    }
    i = 0
    while (i < ranks.length) {
      starts(i + 1) += starts(i)
      i += 1
    }
    val result = new Array[Int](unordered.length)
    i = 0
    while (i < unordered.length) {
      val r = rank(unordered(i))
      result(starts(r)) = unordered(i)
      starts(r) += 1
      i += 1
    }
    result
  }
}

object GroupOrder {

  /** Prime factors in ascending order; none for 1. */
  def primeFactors(n: Int): Array[Int] = {
    val found = Array.newBuilder[Int]
    var rest = n
    var p = 2
    while (p.toLong * p <= rest) {
      while (rest % p == 0) {
        found += p
        rest /= p
      }
      p += 1
    }
    if (rest > 1) found += rest
    found.result()
  }
}

package io.keyfold.mem.arena

import java.util.BitSet

/** The page numbers of an arena: `first` until `end` (exclusive), handed out in runs, lowest first.
  */
private[mem] final class PageNumbers(first: Int, end: Int) {
  private val used = new BitSet

  /** No free run of `n` numbers begins below `from(n)`: saves searching there again. */
  private val from = Array.fill(SizeClasses.MaxSlabPages + 1)(first)

  /** The first of `count` consecutive numbers, at most [[SizeClasses.MaxSlabPages]]; 0 if there are
    * none.
    */
  def take(count: Int): Int = {
    var start = used.nextClearBit(from(count))
    var next = used.nextSetBit(start)
    while (next >= 0 && next - start < count) {
      start = used.nextClearBit(next)
      next = used.nextSetBit(start)
    }
    from(count) = start
    if (start + count > end) 0
    else {
      used.set(start, start + count)
      start
    }
  }

  def give(start: Int, count: Int): Unit = {
    used.clear(start, start + count)
    for (n <- 1 until from.length) {
      from(n) = math.min(from(n), math.max(first, start - n + 1))
    }
  }
}

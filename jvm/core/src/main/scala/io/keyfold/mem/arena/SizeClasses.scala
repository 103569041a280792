package io.keyfold.mem.arena

import io.keyfold.mem.page.PagePool

/** The sizes of objects that share pages: every multiple of 8 up to 128 bytes, then eight classes
  * per doubling, up to [[LargestBytes]]. At most an eighth of an object above 64 bytes is unused.
  *
  * A slab is the run of pages that objects of one class share: the fewest pages of which at most an
  * eighth is left over, which is one page up to 2 KiB and never more than [[MaxSlabPages]].
  */
private[mem] object SizeClasses {
  val LargestBytes: Int = 65536
  val Count: Int = 16 + 9 * 8
  val MaxSlabPages: Int = 8

  private val sizes: Array[Int] = Array.tabulate(Count) { c =>
    if (c < 16) (c + 1) * 8
    else {
      val doubling = 128 << ((c - 16) / 8)
      doubling + doubling / 8 * ((c - 16) % 8 + 1)
    }
  }

  private val pages: Array[Int] = sizes.map { size =>
    (1 to MaxSlabPages).find { n =>
      val slab = n * PagePool.PageBytes
      slab >= size && slab % size * 8 <= slab
    }.get
  }

  /** The class of an object of 0 to [[LargestBytes]] bytes. */
  def of(bytes: Int): Int = {
    val last = math.max(bytes, 1) - 1
    if (last < 128) last >>> 3
    else {
      val doubling = 31 - Integer.numberOfLeadingZeros(last)
      16 + ((doubling - 7) << 3) + ((last >>> (doubling - 3)) & 7)
    }
  }

  /** Size of an object of a class in bytes. */
  def bytes(sizeClass: Int): Int = sizes(sizeClass)

  /** Number of pages of a slab of a class. */
  def slabPages(sizeClass: Int): Int = pages(sizeClass)

  /** Number of objects in a slab of a class. */
  def slabObjects(sizeClass: Int): Int = pages(sizeClass) * PagePool.PageBytes / sizes(sizeClass)
}

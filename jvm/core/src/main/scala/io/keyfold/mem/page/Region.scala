package io.keyfold.mem.page

import java.nio.MappedByteBuffer
import java.util.BitSet

import io.keyfold.mem.Mem

/** Consecutive pages from [[PagePool]]. The holder owns the memory until it frees the run. */
final class PageRun private[mem] (
    private[mem] val region: Region,
    private[mem] val first: Int,
    val pages: Int
) {

  /** Absolute address of the first byte; the pages are contiguous. */
  def address: Long = region.address + first.toLong * PagePool.PageBytes
}

/** Memory taken from the system in one piece: off-heap memory or a mapped file. */
private[mem] final class Region(
    val address: Long,
    val pages: Int,
    mapping: Option[MappedByteBuffer]
) {
  private val used = new BitSet(pages)

  /** Length of the longest free run in pages. */
  private[mem] var longestFree: Int = pages

  def isMapped: Boolean = mapping.isDefined
  def bytes: Long = pages.toLong * PagePool.PageBytes

  /** The first free run of `count` pages, at most [[longestFree]]. */
  def take(count: Int): PageRun = {
    var start = used.nextClearBit(0)
    while (endOf(start) - start < count) start = used.nextClearBit(endOf(start))
    used.set(start, start + count)
    measure()
    new PageRun(this, start, count)
  }

  def give(run: PageRun): Unit = {
    if (used.nextClearBit(run.first) < run.first + run.pages) {
      throw new IllegalStateException(f"${run.pages} pages at 0x${run.address}%x are free already")
    }
    used.clear(run.first, run.first + run.pages)
    measure()
  }

  /** Returns the memory to the system. */
  def release(): Unit = mapping match {
    case Some(buffer) => Mem.unmap(buffer)
    case None         => Mem.free(address)
  }

  private def measure(): Unit = {
    longestFree = 0
    var start = used.nextClearBit(0)
    while (start < pages) {
      longestFree = math.max(longestFree, endOf(start) - start)
      start = used.nextClearBit(endOf(start))
    }
  }

  /** End of the free run that begins at `start`. */
  private def endOf(start: Int): Int = {
    val next = used.nextSetBit(start)
    if (next < 0) pages else next
  }
}

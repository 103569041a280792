package io.keyfold.mem.page

import java.io.IOException
import java.nio.channels.ClosedByInterruptException

import io.keyfold.errors.OutOfMemory
import io.keyfold.mem.Mem

/** Memory for all arenas of a JVM, in pages of 16 KiB.
  *
  * Pages are cut from regions: of 1 to 16 MiB off the heap up to the budget, and beyond it of 16
  * MiB in mapped files, as the system limits the number of mappings. Off-heap memory is always
  * tried first, even after pages went to files; pages never move. Unused regions are returned to
  * the system, except for a reserve, since taking a region costs more than filling it: half of what
  * is in use, or one; of files only while off-heap memory is used up.
  *
  * Threads: any; holds a lock, even while it writes a spill file.
  *
  * @param budgetBytes
  *   maximum off-heap memory; a rest below the size of a region is not used
  * @param spill
  *   provides memory beyond the budget; None: there is none
  */
final class PagePool private[mem] (
    budgetBytes: Long,
    val spill: Option[SpillFiles],
    takeOffHeap: Long => Long
) {
  def this(budgetBytes: Long, spill: Option[SpillFiles]) =
    this(budgetBytes, spill, Mem.allocate(_))

  private val regionPages = PagePool.regionPages(budgetBytes)
  private val offHeap = new Regions(regionPages)

  /** What regions can be had of. */
  private val budgetOfRegions = {
    val bytes = regionPages.toLong * PagePool.PageBytes
    if (budgetBytes < bytes) budgetBytes else budgetBytes / bytes * bytes
  }
  private val mapped = new Regions(PagePool.MostRegionPages)

  /** This many consecutive pages, uninitialised.
    *
    * @throws OutOfMemory
    *   if the budget is used up and files cannot provide more
    * @throws java.nio.channels.ClosedByInterruptException
    *   if the thread was interrupted and pages would have to come from a new file
    */
  def allocate(pages: Int): PageRun = synchronized {
    require(
      pages > 0 && pages <= PagePool.MaxRunPages,
      s"Invalid number of pages: $pages, must be between 1 and ${PagePool.MaxRunPages}"
    )
    offHeap
      .take(pages)
      .orElse(if (growOffHeap(pages)) offHeap.take(pages) else None)
      .orElse(mapped.take(pages))
      .getOrElse {
        growMapped(pages)
        mapped.take(pages).get
      }
  }

  /** Returns pages to the pool.
    *
    * @throws java.lang.IllegalStateException
    *   if they are already free
    */
  def free(run: PageRun): Unit = synchronized {
    (if (run.region.isMapped) mapped else offHeap).give(run)
    val idle = offHeap.usedBytes == 0 && mapped.usedBytes == 0
    offHeap.trim(if (idle) 0 else spareOf(offHeap))
    mapped.trim(if (idle || offHeap.hasFreeRegion || fits(1)) 0 else spareOf(mapped))
  }

  private def spareOf(regions: Regions) = math.max(regions.usedBytes / 2, 1)

  /** Arenas that hold pages. */
  private var arenas = 0
  private[mem] def addArena(change: Int): Unit = synchronized(arenas += change)

  /** Bytes that all loaded versions would take, with those of their rows that are not in memory. */
  private var expectedBytes = 0L
  private[keyfold] def expect(change: Long): Unit = synchronized(expectedBytes += change)

  /** Whether there is memory for half of these. */
  private[keyfold] def hasRoomForHalf: Boolean = synchronized(expectedBytes / 2 <= usableBytes)

  /** Bytes of objects that an arena should give back so that it can have `more`: none while pages
    * are left for that; else as many as it has beyond three quarters of what is its own, since the
    * rest of its pages have objects of other sizes, or are not quite full.
    *
    * @param live
    *   bytes of its objects
    * @param held
    *   bytes of its pages
    */
  def excess(live: Long, held: Long, more: Long): Long = synchronized {
    if (usedBytes + math.max(more - (held - live), 0) <= usableBytes) 0
    else {
      val own = math.max(shareBytes, usableBytes - (usedBytes - held))
      math.max(0, live + more - own / 4 * 3)
    }
  }

  /** Whether `more` bytes of pages would be beyond the budget. */
  def isFull(more: Long): Boolean = synchronized(usedBytes + more > budgetOfRegions)

  private def usedBytes = offHeap.usedBytes + mapped.usedBytes

  /** Bytes for each arena, if all need the same. */
  def shareBytes: Long = synchronized(usableBytes / math.max(arenas, 1))

  /** Leaves room for what transactions write at the same time. */
  private def usableBytes = budgetOfRegions - budgetOfRegions / 8

  /** Off-heap bytes taken from the system. */
  def allocatedBytes: Long = synchronized(offHeap.bytes)

  /** Bytes mapped from files. */
  def mappedBytes: Long = synchronized(mapped.bytes)

  /** Bytes of unused pages, of both kinds. */
  def freeBytes: Long = synchronized {
    offHeap.bytes - offHeap.usedBytes + mapped.bytes - mapped.usedBytes
  }

  private def fits(pages: Int): Boolean =
    offHeap.bytes + offHeap.bytesFor(pages) <= budgetBytes

  /** Whether they fit, if need be without the reserve. */
  private def fitsAfterAll(pages: Int) = fits(pages) || {
    offHeap.trim(0)
    fits(pages)
  }

  /** @return whether a new region with room for `pages` was added */
  private def growOffHeap(pages: Int): Boolean = fitsAfterAll(pages) && {
    val bytes = offHeap.bytesFor(pages)
    try {
      offHeap.add(new Region(takeOffHeap(bytes), (bytes / PagePool.PageBytes).toInt, None))
      true
    } catch {
      // The machine has less memory than the budget; files may still work.
      case e: OutOfMemoryError =>
        if (spill.isEmpty) throw outOfMemory(pages, s"the system refused another $bytes bytes", e)
        false
    }
  }

  private def growMapped(pages: Int): Unit = {
    val bytes = mapped.bytesFor(pages)
    val files = spill.getOrElse(throw outOfMemory(pages, "there is no folder to spill to", null))
    val buffer =
      try files.map(bytes)
      catch {
        // Of a task that is killed: neither memory nor disk is short.
        case e: ClosedByInterruptException => throw e
        case e: IOException                =>
          throw outOfMemory(pages, s"a file of $bytes bytes in ${files.folder} failed: $e", e)
      }
    mapped.add(
      new Region(Mem.addressOf(buffer), (bytes / PagePool.PageBytes).toInt, Some(buffer))
    )
  }

  private def outOfMemory(pages: Int, spilling: String, cause: Throwable) = new OutOfMemory(
    s"Cannot take ${pages.toLong * PagePool.PageBytes} bytes more for state: ${offHeap.bytes} of " +
      s"$budgetBytes bytes off the heap are in use, ${mapped.bytes} bytes are in files, and " +
      s"$spilling. Raise ${PagePool.BudgetSetting} (and the executor's memory overhead with it), " +
      "free space in the local directories to which state spills, or use more executors.",
    cause
  )
}

object PagePool {
  final val PageBytes = 16384

  /** Of 16 MiB, so that nearly all of a region can be huge pages, which the system aligns to 2 MiB.
    */
  private val MostRegionPages = 1024

  /** Pages of a region off the heap: so few that hardly more than a 64th of the budget is not used.
    */
  private def regionPages(budgetBytes: Long): Int =
    math.min(MostRegionPages.toLong, math.max(64L, budgetBytes / 64 / PageBytes)).toInt

  /** A mapping must be smaller than 2 GiB. */
  private[mem] val MaxRunPages: Int = Int.MaxValue / PageBytes

  private val BudgetSetting = "spark.sql.streaming.stateStore.keyfold.memory.maxBytes"
}

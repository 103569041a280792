package io.keyfold.mem

import java.io.IOException

import io.keyfold.errors.OutOfMemory

/** Memory for all arenas of a JVM, in pages of 16 KiB.
  *
  * Pages are cut from regions: of 1 MiB off the heap up to the budget, beyond it of 16 MiB in
  * mapped files (fewer and larger, as the system bounds the number of mappings). Off-heap memory is
  * always tried first, also after pages went to files; no page is moved. A region without a page in
  * use goes back to the system, but for some that spare taking them again at once, which costs more
  * than filling them: half of what is in use, or one; of files only while off-heap memory is used
  * up.
  *
  * Threads: any; a lock is held, also while a spill file is written.
  *
  * @param budgetBytes
  *   most memory to take off the heap; what is left of it below 1 MiB is not used
  * @param spill
  *   where memory beyond the budget comes from, if from anywhere
  */
final class PagePool private[mem] (
    budgetBytes: Long,
    spill: Option[SpillFiles],
    takeOffHeap: Long => Long
) {
  def this(budgetBytes: Long, spill: Option[SpillFiles]) =
    this(budgetBytes, spill, Mem.allocate(_))

  private val offHeap = new Regions(standardPages = 64)
  private val mapped = new Regions(standardPages = 1024)

  /** That many pages in a row, not initialised.
    *
    * @throws OutOfMemory
    *   if the budget is used up and files cannot give more
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

  /** Takes pages back.
    *
    * @throws java.lang.IllegalStateException
    *   if they are free already
    */
  def free(run: PageRun): Unit = synchronized {
    (if (run.region.isMapped) mapped else offHeap).give(run)
    val idle = offHeap.usedBytes == 0 && mapped.usedBytes == 0
    offHeap.trim(if (idle) 0 else spareOf(offHeap))
    mapped.trim(if (idle || offHeap.hasFreeRegion || fits(1)) 0 else spareOf(mapped))
  }

  private def spareOf(regions: Regions) = math.max(regions.usedBytes / 2, 1)

  /** Bytes taken from the system off the heap. */
  def allocatedBytes: Long = synchronized(offHeap.bytes)

  /** Bytes mapped from files. */
  def mappedBytes: Long = synchronized(mapped.bytes)

  /** Of both, bytes of pages that nobody uses. */
  def freeBytes: Long = synchronized {
    offHeap.bytes - offHeap.usedBytes + mapped.bytes - mapped.usedBytes
  }

  private def fits(pages: Int): Boolean =
    offHeap.bytes + offHeap.bytesFor(pages) <= budgetBytes

  /** @return whether there is a new region that `pages` fit into */
  private def growOffHeap(pages: Int): Boolean = fits(pages) && {
    val bytes = offHeap.bytesFor(pages)
    try {
      offHeap.add(new Region(takeOffHeap(bytes), (bytes / PagePool.PageBytes).toInt, None))
      true
    } catch {
      // The machine has less than the budget; files may still do.
      case e: OutOfMemoryError =>
        if (spill.isEmpty) throw outOfMemory(pages, s"the system refuses $bytes bytes more", e)
        false
    }
  }

  private def growMapped(pages: Int): Unit = {
    val bytes = mapped.bytesFor(pages)
    val files = spill.getOrElse(throw outOfMemory(pages, "there is no folder to spill to", null))
    val buffer =
      try files.map(bytes)
      catch {
        case e: IOException =>
          throw outOfMemory(pages, s"a file of $bytes bytes in ${files.folder} failed: $e", e)
      }
    mapped.add(
      new Region(Mem.addressOf(buffer), (bytes / PagePool.PageBytes).toInt, Some(buffer))
    )
  }

  private def outOfMemory(pages: Int, spilling: String, cause: Throwable) = new OutOfMemory(
    s"Cannot take ${pages.toLong * PagePool.PageBytes} bytes more for state: ${offHeap.bytes} of " +
      s"$budgetBytes bytes off the heap are taken, ${mapped.bytes} bytes are in files, and " +
      s"$spilling. Raise ${PagePool.BudgetSetting} (and the executor's memory overhead with it), " +
      "make room in the local directories that state spills to, or use more executors.",
    cause
  )
}

object PagePool {
  final val PageBytes = 16384

  /** A mapping is less than 2 GiB. */
  private[mem] val MaxRunPages: Int = Int.MaxValue / PageBytes

  private val BudgetSetting = "spark.sql.streaming.stateStore.keyfold.memory.maxBytes"
}

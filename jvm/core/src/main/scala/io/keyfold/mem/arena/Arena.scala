package io.keyfold.mem.arena

import java.lang.invoke.VarHandle

import io.keyfold.mem.Mem
import io.keyfold.mem.page.PagePool

/** Objects of one store off the heap, in size classes, addressed by 32-bit handles.
  *
  * A handle counts granules of 8 bytes in a space of 32 GiB: the high 21 bits are a page number,
  * the low 11 the granule in the page. It is never 0 and must be treated as unsigned. Objects do
  * not move.
  *
  * Trade-offs and limits:
  *
  *   1. An object takes the bytes of its class (`SizeClasses`): at most an eighth of that is unused
  *      above 64 bytes, and at most an eighth of a slab. An object of more than 64 KiB takes whole
  *      pages of its own.
  *   1. A class in use holds at least one page. An empty slab is kept while it is the only one of
  *      its class with room. When the last object is freed, every page goes back to the pool.
  *   1. There is no compaction: a slab stays as long as one of its objects lives. A slab that was
  *      full is refilled first, so that emptier slabs can run empty.
  *   1. There are 2^21^ - 1 page numbers. A large object needs one, a slab one for each page.
  *   1. The page table is on the heap, some 60 bytes per page; its arrays shrink only when no
  *      object is left. Objects take no heap.
  *   1. Misuse (use after free, double free) is detected only if [[Mem.Checks]] is on.
  *
  * Threads: only the owner, one at a time, except for [[pageBytes]], [[memory]] and the result of
  * [[snapshotAddresses]].
  */
final class Arena private[mem] (pool: PagePool, numbers: PageNumbers) extends AutoCloseable {
  def this(pool: PagePool) = this(pool, new PageNumbers(first = 1, end = 1 << 21))

  /** Translation for the owner; always includes new objects. */
  val addresses: Addresses =
    new Addresses(new Array[Long](PageTable.StartPages), if (Mem.Checks) new ArenaChecks else null)

  private val pages = new PageTable(pool, numbers, addresses)
  private val slabs = new Slabs(pages, addresses)
  private var bytes = 0L
  private var allocated = 0L
  private var freed = 0L

  /** Bytes of live objects, rounded up to their size classes. */
  def liveBytes: Long = bytes
  def liveObjects: Long = allocated - freed

  /** Number of objects ever allocated. */
  def allocations: Long = allocated

  /** Bytes of the pages held. Any thread may call it. */
  def pageBytes: Long = pages.heldBytes

  /** Any thread may call it; while the owner allocates, `free` may be outdated. */
  def memory: MemoryUse = {
    val (held, mapped) = (pages.heldBytes, pages.mappedBytes)
    MemoryUse(held - mapped, mapped, held - bytes)
  }

  /** Bytes that `allocate(bytes)` takes. A value can be replaced in place if this is the same for
    * both.
    */
  def sizeClass(bytes: Int): Int =
    if (isShared(bytes)) SizeClasses.bytes(SizeClasses.of(bytes))
    else pagesFor(bytes) * PagePool.PageBytes

  /** A new object of at least `bytes` bytes, 8-aligned, not initialised.
    *
    * @return
    *   its handle
    * @throws io.keyfold.errors.OutOfMemory
    *   if the pool has no more pages, or all handles are used; the arena is unchanged then
    */
  def allocate(bytes: Int): Int = {
    val handle =
      if (isShared(bytes)) slabs.allocate(SizeClasses.of(bytes))
      else pages.addLarge(pagesFor(bytes)) << Addresses.PageShift
    val size = sizeClass(bytes)
    this.bytes += size
    allocated += 1
    if (Mem.Checks) addresses.checks.allocated(handle, addresses.raw(handle), size)
    handle
  }

  /** Frees an object; its handle may be reused.
    *
    * @throws java.lang.IllegalStateException
    *   if the handle belongs to no page of the arena; with [[Mem.Checks]], if it belongs to no live
    *   object
    */
  def free(handle: Int): Unit = {
    val page = handle >>> Addresses.PageShift
    if (!pages.isPage(page)) throw new IllegalStateException(f"Handle 0x$handle%08x is of no page")
    if (Mem.Checks) poison(handle, page)
    bytes -= (if (pages.isLarge(page)) freeLarge(page) else slabs.free(handle))
    freed += 1
    if (freed == allocated) {
      slabs.removeEmpty()
      pages.shrink()
    }
  }

  /** A translation for another thread, valid for the objects that are live now, each until it is
    * freed. Costs nothing. It must be handed over with a happens-before edge.
    *
    * It shares the owner's array: the entry of a page changes only when the page has no live
    * object, and growing copies the array.
    */
  def snapshotAddresses(): Addresses = {
    val bases = addresses.bases
    VarHandle.acquireFence()
    new Addresses(bases, addresses.checks)
  }

  /** Returns every page to the pool, even with live objects. Does nothing when repeated. */
  override def close(): Unit = {
    pages.close()
    slabs.clear()
    bytes = 0
    freed = allocated
    if (Mem.Checks) addresses.checks.clear()
  }

  private def isShared(bytes: Int): Boolean = bytes >= 0 && bytes <= SizeClasses.LargestBytes

  private def freeLarge(page: Int): Int = {
    val size = pages.largeBytes(page)
    pages.remove(page)
    size
  }

  private def poison(handle: Int, page: Int): Unit = {
    addresses.checks.live(handle)
    val size =
      if (pages.isLarge(page)) pages.largeBytes(page)
      else SizeClasses.bytes(pages.sizeClass(pages.slabOf(page)))
    addresses.checks.freed(handle, addresses.raw(handle), size)
  }

  private def pagesFor(bytes: Int): Int = {
    require(
      bytes >= 0 && bytes <= Arena.LargestBytes,
      s"Invalid size of an object: $bytes bytes, must be between 0 and ${Arena.LargestBytes}"
    )
    (bytes + PagePool.PageBytes - 1) / PagePool.PageBytes
  }
}

object Arena {

  /** Maximum size of one object in bytes. */
  val LargestBytes: Int = PagePool.MaxRunPages * PagePool.PageBytes
}

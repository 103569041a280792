package io.keyfold.mem

import java.lang.invoke.VarHandle

/** Objects of one store off the heap, in size classes, addressed by 32-bit handles.
  *
  * A handle counts granules of 8 bytes in a space of 32 GiB: the high 21 bits are a page number,
  * the low 11 the granule in the page. It is never 0, and to be treated as unsigned. Objects do not
  * move.
  *
  * Trade-offs and limits:
  *
  *   1. An object takes the bytes of its class (`SizeClasses`): at most an eighth of that is waste
  *      above 64 bytes, and at most an eighth of a slab. One of more than 64 KiB takes whole pages
  *      of its own.
  *   1. A class in use holds a page at least. An empty slab is kept while it is the only one of its
  *      class with room. When the last object is freed, every page goes back to the pool.
  *   1. Nothing is compacted: a slab stays as long as one of its objects lives. A slab that was
  *      full is the first to be filled again, so that those with more room can run empty.
  *   1. There are 2^21^ - 1 page numbers. A large object needs one, a slab one for each page.
  *   1. What an arena knows of its pages is on the heap, some 60 bytes a page; the arrays shrink
  *      only when no object is left. An object costs nothing there.
  *   1. Misuse (a handle that was freed, a second free) is found only if [[Mem.Checks]] is on.
  *
  * Threads: one at a time, the owner, but for [[pageBytes]], [[memory]] and what
  * [[snapshotAddresses]] returns.
  */
final class Arena private[mem] (pool: PagePool, numbers: PageNumbers) extends AutoCloseable {
  def this(pool: PagePool) = this(pool, new PageNumbers(first = 1, end = 1 << 21))

  /** Translation for the owner; knows every new object at once. */
  val addresses: Addresses =
    new Addresses(new Array[Long](PageTable.StartPages), if (Mem.Checks) new ArenaChecks else null)

  private val pages = new PageTable(pool, numbers, addresses)
  private val slabs = new Slabs(pages, addresses)
  private var bytes = 0L
  private var allocated = 0L
  private var freed = 0L

  /** Bytes of live objects, each with those of its class. */
  def liveBytes: Long = bytes
  def liveObjects: Long = allocated - freed

  /** How many objects there ever were. */
  def allocations: Long = allocated

  /** Bytes of the pages held. Any thread may ask. */
  def pageBytes: Long = pages.heldBytes

  /** Any thread may ask; while the owner allocates, what is free may be as it was before. */
  def memory: MemoryUse = {
    val (held, mapped) = (pages.heldBytes, pages.mappedBytes)
    MemoryUse(held - mapped, mapped, held - bytes)
  }

  /** Bytes that `allocate(bytes)` gives. A value that replaces another fits where that is, if this
    * is the same for both.
    */
  def sizeClass(bytes: Int): Int =
    if (isShared(bytes)) SizeClasses.bytes(SizeClasses.of(bytes))
    else pagesFor(bytes) * PagePool.PageBytes

  /** A new object of at least `bytes` bytes, 8-aligned, not initialised.
    *
    * @return
    *   its handle
    * @throws io.keyfold.errors.OutOfMemory
    *   if the pool has no more pages, or all handles are used; nothing has changed then
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

  /** Frees an object; its handle may come again.
    *
    * @throws java.lang.IllegalStateException
    *   if the handle is of no page that is held; with [[Mem.Checks]], if it is of no live object
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

  /** A translation for another thread, valid for the objects that live now, each for as long as it
    * is not freed. Costs nothing. Handing it over must order what was done before.
    *
    * It shares the owner's array: the entry of a page changes only when none of its objects lives,
    * and an array that grows is copied.
    */
  def snapshotAddresses(): Addresses = {
    val bases = addresses.bases
    VarHandle.acquireFence()
    new Addresses(bases, addresses.checks)
  }

  /** Gives every page back, whatever lives. Harmless when repeated. */
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

  /** Most bytes of one object. */
  val LargestBytes: Int = PagePool.MaxRunPages * PagePool.PageBytes
}

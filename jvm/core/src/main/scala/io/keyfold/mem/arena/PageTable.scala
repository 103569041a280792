package io.keyfold.mem.arena

import java.lang.invoke.VarHandle
import java.util.Arrays

import io.keyfold.errors.OutOfMemory
import io.keyfold.io.OnFailure
import io.keyfold.mem.page.{PagePool, PageRun}

/** The pages of an arena by page number, in plain arrays: some 60 bytes per page. Number 0 is not a
  * page.
  *
  * A page is part of a slab, which is identified by the number of its first page, or the first page
  * of a large object, which has only that number, since handles point only to its start.
  *
  * @param addresses
  *   kept up to date
  */
private[mem] final class PageTable(pool: PagePool, numbers: PageNumbers, addresses: Addresses) {
  import PageTable._

  private var runs = new Array[PageRun](StartPages)
  private var fields = new Array[Int](StartPages * Fields)
  @volatile private var held = 0L
  @volatile private var mapped = 0L
  private var closed = false

  /** Bytes of all pages. Any thread may call it. */
  def heldBytes: Long = held

  /** Bytes of those pages that are in files. Any thread may call it. */
  def mappedBytes: Long = mapped

  /** Adds a slab of new pages, one number per page. */
  def addSlab(sizeClass: Int): Int = {
    val count = SizeClasses.slabPages(sizeClass)
    val first = add(count, count)
    for (i <- 0 until count) {
      addresses.bases(first + i) = runs(first).address + i.toLong * PagePool.PageBytes
      fields((first + i) * Fields + Kind) = (i << 8) | (sizeClass + 1)
    }
    first
  }

  /** Adds pages for a large object. */
  def addLarge(pages: Int): Int = {
    val first = add(pages, 1)
    addresses.bases(first) = runs(first).address
    fields(first * Fields + Kind) = Large
    first
  }

  /** Returns the pages of a slab or large object to the pool. */
  def remove(first: Int): Unit = {
    val run = runs(first)
    val count = if (isLarge(first)) 1 else run.pages
    // A stale address should fault instead of hitting another owner's page.
    Arrays.fill(addresses.bases, first, first + count, 0L)
    Arrays.fill(fields, first * Fields, (first + count) * Fields, 0)
    runs(first) = null
    numbers.give(first, count)
    note(run, -1)
    pool.free(run)
  }

  /** Frees the table's own memory when there is no page. */
  def shrink(): Unit = if (held == 0) {
    addresses.bases = new Array[Long](StartPages)
    runs = new Array[PageRun](StartPages)
    fields = new Array[Int](StartPages * Fields)
  }

  /** Returns all pages to the pool; none can be added afterwards. */
  def close(): Unit = {
    closed = true
    for (first <- runs.indices) if (runs(first) != null) remove(first)
    shrink()
  }

  def isPage(page: Int): Boolean = page < runs.length && fields(page * Fields + Kind) != 0
  def isLarge(page: Int): Boolean = fields(page * Fields + Kind) == Large

  /** Bytes of a large object. */
  def largeBytes(page: Int): Int = runs(page).pages * PagePool.PageBytes

  def slabOf(page: Int): Int = page - (fields(page * Fields + Kind) >>> 8)
  def sizeClass(slab: Int): Int = (fields(slab * Fields + Kind) & 0xff) - 1

  /** The first free object of a slab, or 0. */
  def free(slab: Int): Int = fields(slab * Fields + Free)
  def setFree(slab: Int, handle: Int): Unit = fields(slab * Fields + Free) = handle

  /** Changes the number of live objects of a slab and returns it. */
  def addLive(slab: Int, change: Int): Int = {
    val live = fields(slab * Fields + Live) + change
    fields(slab * Fields + Live) = live
    live
  }

  /** Neighbours of a slab in the list of its class, or 0. */
  def next(slab: Int): Int = fields(slab * Fields + Next)
  def setNext(slab: Int, other: Int): Unit = fields(slab * Fields + Next) = other
  def previous(slab: Int): Int = fields(slab * Fields + Previous)
  def setPrevious(slab: Int, other: Int): Unit = fields(slab * Fields + Previous) = other

  /** Takes pages and numbers for them. */
  private def add(pages: Int, count: Int): Int = {
    if (closed) throw new IllegalStateException("The arena is closed")
    val first = numbers.take(count)
    if (first == 0) {
      throw new OutOfMemory(
        s"One store cannot hold more state: the handles of its 32 GiB are used up, with $held " +
          "bytes of pages. Start the query on a new checkpoint with more partitions."
      )
    }
    OnFailure(numbers.give(first, count)) {
      grow(first + count)
      runs(first) = pool.allocate(pages)
    }
    note(runs(first), 1)
    first
  }

  private def note(run: PageRun, sign: Int): Unit = {
    val bytes = sign * run.pages.toLong * PagePool.PageBytes
    if (held == 0 || held + bytes == 0) pool.addArena(sign)
    held += bytes
    if (run.region.isMapped) mapped += bytes
  }

  /** Allocates new arrays, never shorter ones: snapshots of the addresses keep the old ones. */
  private def grow(pages: Int): Unit = if (pages > runs.length) {
    val length = math.max(pages, runs.length + runs.length / 2)
    val bases = Arrays.copyOf(addresses.bases, length)
    // Readers take the array without a lock, so its contents must be visible before it is.
    VarHandle.releaseFence()
    addresses.bases = bases
    runs = Arrays.copyOf(runs, length)
    fields = Arrays.copyOf(fields, length * Fields)
  }
}

private[mem] object PageTable {
  val StartPages: Int = 16

  /** For a page of a slab: class + 1 in the low 8 bits, and above them its offset from the first
    * page. [[Large]] for a large object, 0 for no page.
    */
  private final val Kind = 0
  private final val Free = 1
  private final val Live = 2
  private final val Next = 3
  private final val Previous = 4
  private final val Fields = 5

  private final val Large = 0xff
}

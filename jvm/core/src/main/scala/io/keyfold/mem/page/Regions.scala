package io.keyfold.mem.page

import scala.collection.mutable

/** The regions of one kind, off heap or mapped.
  *
  * @param standardPages
  *   pages of a region; a longer run gets a region of its own
  */
private[mem] final class Regions(standardPages: Int) {

  /** By longest free run, then address: the first region with enough room is the tightest fit, so
    * that others can run empty.
    */
  private val byRoom = mutable.TreeMap.empty[(Int, Long), Region]

  /** Number of standard regions that are entirely free. */
  private var free = 0

  /** Bytes of all regions, and of the pages in use. */
  var bytes: Long = 0
  var usedBytes: Long = 0

  /** Bytes of a new region with room for `pages`. */
  def bytesFor(pages: Int): Long = math.max(pages, standardPages).toLong * PagePool.PageBytes

  def hasFreeRegion: Boolean = free > 0

  def add(region: Region): Unit = {
    bytes += region.bytes
    byRoom(key(region)) = region
    if (region.pages == standardPages) free += 1
  }

  /** A run of pages, if a region has room for it. */
  def take(pages: Int): Option[PageRun] =
    byRoom.minAfter((pages, 0L)).map { case (key, region) =>
      if (isFree(region)) free -= 1
      val run = region.take(pages)
      usedBytes += run.pages.toLong * PagePool.PageBytes
      byRoom -= key
      byRoom(this.key(region)) = region
      run
    }

  def give(run: PageRun): Unit = {
    val before = key(run.region)
    run.region.give(run)
    usedBytes -= run.pages.toLong * PagePool.PageBytes
    byRoom -= before
    if (run.region.pages > standardPages) release(run.region) // it had only this run
    else {
      byRoom(key(run.region)) = run.region
      if (isFree(run.region)) free += 1
    }
  }

  /** Returns entirely free standard regions to the system, except for as many as cover
    * `spareBytes`.
    */
  def trim(spareBytes: Long): Unit = {
    val regionBytes = standardPages.toLong * PagePool.PageBytes
    while ((free - 1) * regionBytes >= spareBytes) {
      val (key, region) = byRoom.minAfter((standardPages, 0L)).get
      byRoom -= key
      free -= 1
      release(region)
    }
  }

  private def release(region: Region): Unit = {
    bytes -= region.bytes
    region.release()
  }

  private def isFree(region: Region) = region.longestFree == standardPages

  private def key(region: Region) = (region.longestFree, region.address)
}

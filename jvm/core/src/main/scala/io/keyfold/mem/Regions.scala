package io.keyfold.mem

import scala.collection.mutable

/** The regions of one kind, off heap or mapped.
  *
  * @param standardPages
  *   pages of a region; longer runs get one of their own
  */
private[mem] final class Regions(standardPages: Int) {

  /** By longest free run, then address: the first that a run fits into is the one that it leaves
    * least room in, so that others have a chance to run empty.
    */
  private val byRoom = mutable.TreeMap.empty[(Int, Long), Region]

  /** Of all regions, and of what is handed out of them. */
  var bytes: Long = 0
  var usedBytes: Long = 0

  /** Bytes of a new region that `pages` fit into. */
  def bytesFor(pages: Int): Long = math.max(pages, standardPages).toLong * PagePool.PageBytes

  def hasFreeRegion: Boolean = byRoom.minAfter((standardPages, 0L)).isDefined

  def add(region: Region): Unit = {
    bytes += region.bytes
    byRoom(key(region)) = region
  }

  /** A run, if a region has room for it. */
  def take(pages: Int): Option[PageRun] =
    byRoom.minAfter((pages, 0L)).map { case (key, region) =>
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
    byRoom(key(run.region)) = run.region
  }

  /** Gives regions that are wholly free back to the system, but for `spare` standard ones. */
  def trim(spare: Int): Unit = {
    // A longer region has one run: it is either full or wholly free.
    val free = byRoom.rangeFrom((standardPages, 0L)).values.toSeq
    val (standard, longer) = free.partition(_.pages == standardPages)
    for (region <- longer ++ standard.drop(spare)) {
      byRoom -= key(region)
      bytes -= region.bytes
      region.release()
    }
  }

  private def key(region: Region) = (region.longestFree, region.address)
}

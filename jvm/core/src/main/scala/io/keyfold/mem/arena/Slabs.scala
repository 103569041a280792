package io.keyfold.mem.arena

import io.keyfold.mem.Mem

/** The objects of an arena that share pages. Free objects are linked through their first four
  * bytes; slabs with free objects are in a list of their class.
  */
private[mem] final class Slabs(pages: PageTable, addresses: Addresses) {

  /** The first slab with room, by class; 0 if none. */
  private val roomy = new Array[Int](SizeClasses.Count)

  /** Allocates an object and returns its handle. */
  def allocate(sizeClass: Int): Int = {
    if (roomy(sizeClass) == 0) addSlab(sizeClass)
    val slab = roomy(sizeClass)
    val handle = pages.free(slab)
    val address = addresses.raw(handle)
    if (Mem.Checks) addresses.checks.untouched(handle, address, SizeClasses.bytes(sizeClass))
    val next = Mem.getInt(null, address)
    pages.setFree(slab, next)
    if (next == 0) unlink(slab, sizeClass)
    pages.addLive(slab, 1)
    handle
  }

  /** Frees an object.
    *
    * @return
    *   its bytes
    */
  def free(handle: Int): Int = {
    val slab = pages.slabOf(handle >>> Addresses.PageShift)
    val sizeClass = pages.sizeClass(slab)
    val next = pages.free(slab)
    Mem.putInt(null, addresses.raw(handle), next)
    pages.setFree(slab, handle)
    if (next == 0) link(slab, sizeClass)
    val onlyOne = roomy(sizeClass) == slab && pages.next(slab) == 0
    // Alternating allocate and free at the edge of a slab should not go to the pool each time.
    if (pages.addLive(slab, -1) == 0 && !onlyOne) remove(slab, sizeClass)
    SizeClasses.bytes(sizeClass)
  }

  /** Removes the empty slabs that were kept, at most one per class, when no object is live. */
  def removeEmpty(): Unit = {
    var sizeClass = 0
    while (sizeClass < SizeClasses.Count) {
      if (roomy(sizeClass) != 0) remove(roomy(sizeClass), sizeClass)
      sizeClass += 1
    }
  }

  /** Removes all slabs; the page table frees their pages. */
  def clear(): Unit = java.util.Arrays.fill(roomy, 0)

  private def addSlab(sizeClass: Int): Unit = {
    val slab = pages.addSlab(sizeClass)
    val first = slab << Addresses.PageShift
    val address = addresses.raw(first)
    val bytes = SizeClasses.bytes(sizeClass)
    val count = SizeClasses.slabObjects(sizeClass)
    if (Mem.Checks) Mem.fill(address, count.toLong * bytes, ArenaChecks.Freed)
    var i = 1
    while (i <= count) {
      val next = if (i == count) 0 else first + (i * bytes >>> 3)
      Mem.putInt(null, address + (i - 1) * bytes, next)
      i += 1
    }
    pages.setFree(slab, first)
    link(slab, sizeClass)
  }

  private def remove(slab: Int, sizeClass: Int): Unit = {
    unlink(slab, sizeClass)
    pages.remove(slab)
  }

  /** Puts a slab first in its list. Slabs that were full are refilled first, so that others can run
    * empty.
    */
  private def link(slab: Int, sizeClass: Int): Unit = {
    val head = roomy(sizeClass)
    pages.setNext(slab, head)
    pages.setPrevious(slab, 0)
    if (head != 0) pages.setPrevious(head, slab)
    roomy(sizeClass) = slab
  }

  private def unlink(slab: Int, sizeClass: Int): Unit = {
    val next = pages.next(slab)
    val previous = pages.previous(slab)
    if (previous == 0) roomy(sizeClass) = next else pages.setNext(previous, next)
    if (next != 0) pages.setPrevious(next, previous)
  }
}

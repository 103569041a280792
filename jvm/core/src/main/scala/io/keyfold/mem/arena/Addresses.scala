package io.keyfold.mem.arena

import io.keyfold.mem.Mem

/** Translates the handles of an arena to absolute addresses. [[Arena.addresses]] and
  * [[Arena.snapshotAddresses]] say who may use it and how long.
  *
  * @param bases
  *   address of each page, by page number
  */
final class Addresses private[mem] (
    private[mem] var bases: Array[Long],
    private[mem] val checks: ArenaChecks
) {

  /** Address of a live object. Unchecked unless [[Mem.Checks]] is on, which throws
    * IllegalStateException if there is no such object.
    */
  def of(handle: Int): Long = {
    if (Mem.Checks) checks.live(handle)
    raw(handle)
  }

  /** Address of a handle, whether or not it has an object. */
  private[mem] def raw(handle: Int): Long =
    bases(handle >>> Addresses.PageShift) + ((handle & Addresses.GranuleMask).toLong << 3)
}

private[mem] object Addresses {

  /** A page has 2^11^ granules of 8 bytes. */
  final val PageShift = 11
  final val GranuleMask = 0x7ff
}

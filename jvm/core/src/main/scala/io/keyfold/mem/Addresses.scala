package io.keyfold.mem

/** Where the objects of an arena are: handle to absolute address. Got from [[Arena.addresses]] or
  * [[Arena.snapshotAddresses]], which say who may use it and how long.
  *
  * @param bases
  *   address of each page, by page number
  */
final class Addresses private[mem] (
    private[mem] var bases: Array[Long],
    private[mem] val checks: ArenaChecks
) {

  /** Address of a live object. Nothing is checked, unless [[Mem.Checks]] is on:
    * IllegalStateException then if there is no such object.
    */
  def of(handle: Int): Long = {
    if (Mem.Checks) checks.live(handle)
    bases(handle >>> Addresses.PageShift) + ((handle & Addresses.GranuleMask).toLong << 3)
  }

  /** Where a handle points, whether or not an object is there. */
  private[mem] def raw(handle: Int): Long =
    bases(handle >>> Addresses.PageShift) + ((handle & Addresses.GranuleMask).toLong << 3)
}

private[mem] object Addresses {

  /** A page has 2^11^ granules of 8 bytes. */
  final val PageShift = 11
  final val GranuleMask = 0x7ff
}

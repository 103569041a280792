package io.keyfold.map.version

/** A version, or a transaction.
  *
  * @param families
  *   its rows; private to a transaction until it ends
  */
private[map] final class VersionNode(
    var base: VersionNode,
    var families: Array[FamilyIndex]
) {

  /** The last epoch in which its transaction wrote. */
  var epoch = 0
  var children: List[VersionNode] = Nil

  /** Whether its transaction has been released: until then, callers may have rows that are retired.
    */
  var released = false

  /** The open cursors of its transaction. */
  val cursors = new OpenCursors(if (base == null) 0 else base.epoch)

  /** What it has retired of its base and, if escaped, of its own. */
  val retired = new Retired

  /** Whether transactions may begin on it. */
  var held = false
  var pins = 0

  /** Whether it was removed from the tree. */
  var taken = false

  /** Its transaction, with all slices and cursors obtained from it, is no longer used. */
  def release(): Unit = {
    released = true
    cursors.drain(retired.addPage)
  }

  def isLive: Boolean = held || pins > 0
}

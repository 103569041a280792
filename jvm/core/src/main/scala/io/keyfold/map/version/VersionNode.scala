package io.keyfold.map.version

/** A version, or a transaction.
  *
  * @param families
  *   its rows; a transaction's own until it ends
  */
private[map] final class VersionNode(
    var base: VersionNode,
    var families: Array[FamilyIndex]
) {

  /** The last one in which its transaction has made something. */
  var epoch = 0
  var children: List[VersionNode] = Nil

  /** Whether its transaction has been released: until then, rows that it handed out may be among
    * those retired.
    */
  var released = false

  /** Open ones of its transaction. */
  val cursors = new OpenCursors(if (base == null) 0 else base.epoch)

  /** What it has retired, of its base's and, once they have escaped, of its own. */
  val retired = new Retired

  /** Whether it counts as a version that may be begun on. */
  var held = false
  var pins = 0

  /** Whether it has left the tree. */
  var taken = false

  /** Its transaction, and whatever was got from it, is not used any more. */
  def release(): Unit = {
    released = true
    cursors.drain(retired.addPage)
  }

  def isLive: Boolean = held || pins > 0
}

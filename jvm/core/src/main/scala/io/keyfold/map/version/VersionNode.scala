package io.keyfold.map.version

import io.keyfold.map.hash.{Epochs, Sight}

/** A version, or a transaction.
  *
  * @param families
  *   its rows; private to a transaction until it ends
  * @param hidden
  *   epochs of versions that it is not built on
  * @param first
  *   the first epoch in which its transaction wrote
  */
private[map] final class VersionNode(
    var base: VersionNode,
    var families: Array[FamilyIndex],
    hidden: Epochs,
    val first: Int
) {

  /** The last epoch in which its transaction wrote. */
  var epoch: Int = first

  /** The epochs in which its transaction wrote, and those of versions that were merged into it. */
  def epochs: Epochs = absorbed ++ Epochs(first, epoch)
  var absorbed: Epochs = Epochs.None

  /** What a view of it sees. */
  def sight: Sight = new Sight(epoch, hidden)

  /** Families of its base that its transaction dropped, and those that it made and dropped. */
  var dropped = List.empty[HashedIndex]

  /** Its families without order. */
  def hashed: Seq[HashedIndex] = families.toSeq.collect { case rows: HashedIndex => rows }

  /** Its ordered families. */
  def ordered: Seq[OrderedIndex] = families.toSeq.collect { case rows: OrderedIndex => rows }

  def hashedOrDropped: Seq[HashedIndex] = hashed ++ dropped

  var children: List[VersionNode] = Nil

  /** Whether its transaction has been released: until then, callers may have rows that are retired.
    */
  var released = false

  /** The open cursors of its transaction. */
  val cursors = new OpenCursors(first - 1)

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

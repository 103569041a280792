package io.keyfold.map.hash

/** Epochs, as intervals.
  *
  * @param bounds
  *   first and last of each
  */
private[map] final class Epochs(private val bounds: Array[Int]) {
  def contains(epoch: Int): Boolean = {
    var i = 0
    while (i < bounds.length && (epoch < bounds(i) || epoch > bounds(i + 1))) i += 2
    i < bounds.length
  }

  def isEmpty: Boolean = bounds.length == 0

  /** Those of both. */
  def ++(other: Epochs): Epochs =
    if (isEmpty) other
    else if (other.isEmpty) this
    else if (other.bounds.head == bounds.last + 1) new Epochs(bounds.init ++ other.bounds.tail)
    else new Epochs(bounds ++ other.bounds)
}

private[map] object Epochs {
  val None = new Epochs(Array.emptyIntArray)
  def apply(first: Int, last: Int): Epochs = new Epochs(Array(first, last))
}

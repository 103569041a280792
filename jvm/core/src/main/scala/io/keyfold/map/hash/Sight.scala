package io.keyfold.map.hash

/** Which records a reader sees: those written up to an epoch, but for those of versions that its
  * own is not built on.
  */
private[map] final class Sight(epoch: Int, hidden: Epochs) {
  def sees(written: Int): Boolean =
    written <= epoch && (hidden.isEmpty || !hidden.contains(written))

  def until(last: Int): Sight = new Sight(last, hidden)
}

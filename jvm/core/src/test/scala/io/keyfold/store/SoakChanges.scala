package io.keyfold.store

import scala.util.Random

/** Changes by chance to rows of a fixed set of keys, so that a store's state is bounded. */
private[store] final class SoakChanges(random: Random) {
  import SoakChanges._
  import StoreModel._

  def key() = Keys(random.nextInt(Keys.size))

  private def value() = {
    val length = if (random.nextInt(200) == 0) LongValue else random.nextInt(ShortValue)
    random.nextInt(1000).toString + "." * length
  }

  def changes(): Seq[Change] = Seq.fill(random.nextInt(6)) {
    random.nextInt(200) match {
      case n if n < 90 => Put(key(), value())
      // A list has an end: a put begins it anew.
      case n if n < 130 =>
        if (random.nextInt(4) == 0) Put(key(), value()) else Append(key(), value())
      case n if n < 180 => Remove(key())
      case n if n < 199 =>
        val start = random.nextInt(Keys.size - RangeKeys)
        RemoveRange(Some(Keys(start)), Some(Keys(start + RangeKeys)))
      case _ => DropAll
    }
  }
}

private object SoakChanges {
  private val Keys = (0 until 60).map(i => f"key$i%02d")
  private val RangeKeys = 4
  private val ShortValue = 400

  /** More than a page. */
  private val LongValue = 20000
}

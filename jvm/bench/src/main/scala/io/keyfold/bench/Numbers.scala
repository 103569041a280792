package io.keyfold.bench

import java.math.{BigDecimal, MathContext}
import java.util.Locale

/** Numbers as people read them. */
object Numbers {

  /** Three digits that matter, thousands set off: 1,870 or 0.0213. */
  def short(number: Double): String =
    if (number == 0) "0"
    else if (number.isNaN || number.isInfinite) number.toString
    else {
      val rounded = new BigDecimal(number).round(new MathContext(3))
      if (math.abs(number) >= 100) "%,.0f".formatLocal(Locale.ROOT, rounded.doubleValue)
      else rounded.toPlainString
    }
}

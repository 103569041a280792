package io.keyfold.spark.state

import java.util.concurrent.atomic.LongAdder

import com.codahale.metrics.{ExponentiallyDecayingReservoir, Snapshot}

/** How long something took: in all, and a sample in which what is newer has more weight. Threads:
  * any.
  */
private[spark] final class Durations {
  private val sample = new ExponentiallyDecayingReservoir
  private val number = new LongAdder
  private val total = new LongAdder

  def add(ms: Long): Unit = {
    sample.update(ms)
    number.increment()
    total.add(ms)
  }

  def count: Long = number.sum
  def totalMs: Long = total.sum

  /** Quantiles in milliseconds. */
  def recent: Snapshot = sample.getSnapshot
}

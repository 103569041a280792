package io.keyfold.spark.state

import java.util.concurrent.atomic.LongAdder

import com.codahale.metrics.{ExponentiallyDecayingReservoir, Histogram, Snapshot}

/** How long something took: in all, and a sample in which what is newer has more weight. Threads:
  * any.
  */
private[spark] final class Durations {
  private val sample = new Histogram(new ExponentiallyDecayingReservoir)
  private val total = new LongAdder

  def add(ms: Long): Unit = {
    sample.update(ms)
    total.add(ms)
  }

  def count: Long = sample.getCount
  def totalMs: Long = total.sum

  /** Quantiles in milliseconds. */
  def recent: Snapshot = sample.getSnapshot
}

package io.keyfold.bench.cell

import io.keyfold.bench.{Effort, Figure}

/** How long a single put can take while a store grows from nothing. A put in which the JVM stopped
  * all threads, mostly to collect garbage, is counted apart.
  */
final class LongestPut(job: Job) extends Work {
  private val nanos = new Array[Int](job.rows)

  /** Loads classes and code with another store. */
  override def prepare(): Unit = {
    grow(math.max(job.rows / 10, 1))
    ()
  }

  override def round(number: Int): Seq[Figure] = {
    val longestInPause = grow(job.rows)
    java.util.Arrays.sort(nanos)
    Seq(
      Figure("longest", "ms", nanos.last / 1e6),
      Figure("p99.99", "µs", nanos((job.rows * 0.9999).toInt) / 1e3),
      Figure("longest-paused", "ms", longestInPause / 1e6)
    )
  }

  override def warmUpSeconds(effort: Effort): Double = 0
  override def close(): Unit = ()

  /** Leaves the time of each put in `nanos`, that of one with a pause as 0.
    *
    * @return
    *   the longest of those with a pause
    */
  private def grow(rows: Int): Int = {
    val store = new BenchStore(job.provider, Layout.plain(job.shape))
    val value = job.shape.emptyValue()
    var longest = 0
    try
      (0 until rows by LongestPut.BatchRows).foreach { first =>
        store.batch { to =>
          (first until math.min(first + LongestPut.BatchRows, rows)).foreach { row =>
            val key = job.shape.key(row)
            job.shape.write(value, row, 0)
            val before = Safepoints.count()
            val start = System.nanoTime
            to.put(key, value)
            val time = math.min(System.nanoTime - start, Int.MaxValue.toLong).toInt
            if (Safepoints.count() == before) nanos(row) = time
            else {
              nanos(row) = 0
              longest = math.max(longest, time)
            }
          }
        }
      }
    finally store.close()
    longest
  }
}

object LongestPut {
  private val BatchRows = 1000000
}

package io.keyfold.bench.cell

import io.keyfold.bench.Figure
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.execution.streaming.state._

/** Scans of 100 rows each, at random places. */
abstract class ScanOf100(job: Job, layout: Layout) extends StoreWork(job, layout) {
  protected val runs: Int = job.rows / Shape.Runs.Length
  private val chosen = Rows.shuffled(runs, math.min(runs, ScanOf100.Scans))

  /** The `run`th of `runs` groups of 100 rows. */
  protected def scan(from: ReadStateStore, run: Int): StateStoreIterator[UnsafeRowPair]

  override def round(number: Int): Seq[Figure] = store.reading { from =>
    val start = System.nanoTime
    var sum = 0L
    var count = 0
    var scans = 0
    while (scans < chosen.length && System.nanoTime - start < ScanOf100.EnoughNanos) {
      val rows = scan(from, chosen(scans))
      while (rows.hasNext) {
        sum += shape.read(rows.next().value)
        count += 1
      }
      rows.close()
      scans += 1
    }
    val nanos = System.nanoTime - start
    StoreWork.sink = sum
    require(count == scans * Shape.Runs.Length, s"$count rows were found in $scans scans")
    Seq(Figure("time", "µs", nanos / 1000.0 / scans))
  }
}

object ScanOf100 {
  private val Scans = 5000

  /** A provider without an index for this is slow enough to be timed by fewer scans. */
  private val EnoughNanos = 5000000000L
}

/** All rows that have the first column of the key in common. */
final class PrefixScan(job: Job) extends ScanOf100(job, Layout.byPrefix) {
  private val prefix = new UnsafeRow(1)
  prefix.pointTo(new Array[Byte](16), 16)

  override protected def scan(from: ReadStateStore, run: Int): StateStoreIterator[UnsafeRowPair] = {
    prefix.setInt(0, Shape.Runs.number(run))
    from.prefixScan(prefix)
  }
}

/** All rows of a span of time. */
final class RangeScan(job: Job) extends ScanOf100(job, Layout.byTime) {
  override protected def scan(from: ReadStateStore, run: Int): StateStoreIterator[UnsafeRowPair] =
    from.rangeScan(Some(bound(run)), Some(bound(run + 1)))

  private def bound(run: Int) = Shape.Times.bound(run * Shape.Runs.Length)
}

package io.keyfold.bench.cell

import io.keyfold.bench.{Effort, Figure}
import org.apache.spark.sql.execution.streaming.state.StateStore

/** A work on one store that is filled before. */
abstract class StoreWork(
    job: Job,
    layout: Layout,
    settings: Map[String, String] = Map.empty
) extends Work {
  protected val shape: Shape = layout.shape
  protected val store = new BenchStore(job.provider, layout, settings)

  override def prepare(): Unit = store.load(job.rows)
  override def settle(): Unit = store.maintain()
  override def close(): Unit = store.close()

  override def warmUpSeconds(effort: Effort): Double = StoreWork.warmUpSeconds(effort, job.rows)

  protected def putAll(to: StateStore, rows: Rows): Unit = {
    var i = 0
    while (i < rows.keys.length) {
      to.put(rows.keys(i), rows.values(i))
      i += 1
    }
  }

  /** Nanoseconds for each of `count` operations. */
  protected def perOperation(nanos: Long, count: Int): Seq[Figure] =
    Seq(Figure("time", "ns", nanos.toDouble / count))
}

object StoreWork {
  private val Few = 10000

  /** Of few rows, a batch is mostly what is done once a batch, which is compiled late. */
  def warmUpSeconds(effort: Effort, rows: Int): Double =
    effort.warmUpSeconds * (if (rows <= Few) 4 else 1)

  /** Where results of reads go, so that the compiler cannot leave them out. */
  @volatile var sink: Long = 0L
}

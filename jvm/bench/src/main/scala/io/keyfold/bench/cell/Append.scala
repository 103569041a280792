package io.keyfold.bench.cell

import io.keyfold.bench.Figure

/** Appends ten values to each key of a store that is empty until then; commit included. */
final class Append(job: Job) extends Work {
  private val values = 10
  private val keys = math.max(job.perBatch / values, 1)
  private val rows = new Rows(Shape.Ints, Rows.shuffled(keys, keys))

  override def prepare(): Unit = rows.refresh(0)

  override def round(number: Int): Seq[Figure] = {
    val store = new BenchStore(job.provider, Layout.lists)
    try {
      store.batch(_ => ()) // the first batch of a query makes what all batches use
      val nanos = store.timed { to =>
        rows.keys.indices.foreach { i =>
          (0 until values).foreach(_ => to.merge(rows.keys(i), rows.values(i)))
        }
      }
      Seq(Figure("time", "ns", nanos.toDouble / (keys * values)))
    } finally store.close()
  }

  override def close(): Unit = ()
}

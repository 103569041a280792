package io.keyfold.bench.cell

import io.keyfold.bench.{Effort, Figure}

/** Puts other values for rows that are there, in random order; commit included. */
final class PutOverwrite(job: Job) extends StoreWork(job, Layout.plain(job.shape)) {
  private val rows = new Rows(shape, Rows.shuffled(job.rows, job.perBatch))

  override def round(number: Int): Seq[Figure] = {
    val nanos = (0 until job.batches).map { batch =>
      rows.refresh(number * job.batches + batch + 1)
      store.timed(putAll(_, rows))
    }
    perOperation(nanos.sum, job.batches * job.perBatch)
  }
}

/** Puts rows into a store that is empty until then; commit included. */
final class PutNew(job: Job) extends Work {
  private val rows = new Rows(job.shape, Rows.shuffled(job.rows, job.rows))

  override def prepare(): Unit = rows.refresh(0)

  override def round(number: Int): Seq[Figure] = {
    val nanos = (0 until job.batches).map(_ => fill())
    Seq(Figure("time", "ns", nanos.sum.toDouble / (job.batches * job.rows)))
  }

  override def close(): Unit = ()

  override def warmUpSeconds(effort: Effort): Double = StoreWork.warmUpSeconds(effort, job.rows)

  private def fill(): Long = {
    val store = new BenchStore(job.provider, Layout.plain(job.shape))
    try {
      store.batch(_ => ()) // the first batch of a query makes what all batches use
      store.timed { to =>
        var i = 0
        while (i < rows.keys.length) {
          to.put(rows.keys(i), rows.values(i))
          i += 1
        }
      }
    } finally store.close()
  }
}

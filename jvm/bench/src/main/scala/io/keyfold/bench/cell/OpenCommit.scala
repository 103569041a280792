package io.keyfold.bench.cell

import io.keyfold.bench.Figure

/** A small batch on a large state: opens the newest version, puts other values for 1,000 rows,
  * commits. Time of the whole.
  */
final class OpenCommit(job: Job) extends StoreWork(job, Layout.plain(job.shape)) {
  private val batches =
    Rows.shuffled(job.rows, 10 * 1000).grouped(1000).map(new Rows(shape, _)).toSeq

  override def round(number: Int): Seq[Figure] = {
    batches.foreach(_.refresh(number + 1))
    val start = System.nanoTime
    batches.foreach { rows =>
      val to = store.begin()
      putAll(to, rows)
      store.commit(to)
    }
    Seq(Figure("time", "ms", (System.nanoTime - start) / 1e6 / batches.size))
  }
}

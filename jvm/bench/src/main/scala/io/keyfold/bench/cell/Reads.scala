package io.keyfold.bench.cell

import io.keyfold.bench.Figure

/** Gets rows that are there, in random order. */
final class Get(job: Job) extends StoreWork(job, Layout.plain(job.shape)) {
  private val rows = new Rows(shape, Rows.shuffled(job.rows, job.perBatch))

  override def round(number: Int): Seq[Figure] = store.reading { from =>
    val start = System.nanoTime
    var sum = 0L
    rows.keys.foreach(key => sum += shape.read(from.get(key)))
    val nanos = System.nanoTime - start
    StoreWork.sink = sum
    perOperation(nanos, job.perBatch)
  }
}

/** Iterates over all rows. */
final class Scan(job: Job) extends StoreWork(job, Layout.plain(job.shape)) {
  override def round(number: Int): Seq[Figure] = store.reading { from =>
    val start = System.nanoTime
    var sum = 0L
    var count = 0
    val rows = from.iterator()
    while (rows.hasNext) {
      val row = rows.next()
      sum += row.key.getInt(0) + shape.read(row.value)
      count += 1
    }
    rows.close()
    val nanos = System.nanoTime - start
    StoreWork.sink = sum
    require(count == job.rows, s"$count rows were found")
    perOperation(nanos, count)
  }
}

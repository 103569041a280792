package io.keyfold.bench.cell

import io.keyfold.bench.Figure

/** Gets the value of a row and puts a changed one; commit included. */
final class ReadModifyWrite(job: Job) extends StoreWork(job, Layout.plain(job.shape)) {
  private val rows = new Rows(shape, Rows.shuffled(job.rows, job.perBatch))

  override def round(number: Int): Seq[Figure] = {
    val value = shape.emptyValue()
    val nanos = store.timed { to =>
      rows.keys.foreach { key =>
        value.copyFrom(to.get(key))
        shape.change(value)
        to.put(key, value)
      }
    }
    perOperation(nanos, job.perBatch)
  }
}

/** Removes up to half of the rows, in random order; commit included. They come back between rounds.
  */
final class Remove(job: Job) extends StoreWork(job, Layout.plain(job.shape)) {
  private val count = math.max(math.min(job.perBatch, job.rows / 2), 1)
  private val rows = new Rows(shape, Rows.shuffled(job.rows, count))

  override def round(number: Int): Seq[Figure] = {
    rows.refresh(number)
    val nanos = store.timed(to => rows.keys.foreach(to.remove(_)))
    store.batch(putAll(_, rows))
    perOperation(nanos, count)
  }
}

/** What operators do to drop old rows: scans all and removes every tenth on the way; commit
  * included. Time for each row that was there.
  */
final class Evict(job: Job) extends StoreWork(job, Layout.plain(Shape.Ints)) {
  private val evicted = new Rows(shape, Array.range(0, job.rows, 10))

  override def round(number: Int): Seq[Figure] = {
    evicted.refresh(number)
    var removed = 0
    val nanos = store.timed { to =>
      val rows = to.iterator()
      while (rows.hasNext) {
        val key = rows.next().key
        if (Shape.Ints.rowOf(key) % 10 == 0) {
          to.remove(key)
          removed += 1
        }
      }
      rows.close()
    }
    require(removed == evicted.keys.length, s"$removed rows were evicted")
    store.batch(putAll(_, evicted))
    perOperation(nanos, job.rows)
  }
}

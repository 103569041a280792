package io.keyfold.bench.cell

import io.keyfold.bench.Figure

/** Opens, with an instance that knows nothing, a state that lies in files: a snapshot of all rows
  * and five deltas of 10,000 rows. Time to the first row, and to the last one of a full scan; and
  * once more to the end of 1,000 rows at random that are read, changed and put.
  */
final class Load(job: Job) extends StoreWork(job, Layout.plain(job.shape), Load.NoOtherSnapshot) {

  private val some = new Rows(shape, Rows.shuffled(job.rows, 1000))

  override def prepare(): Unit = {
    store.load(job.rows)
    val deltas = Rows.shuffled(job.rows, math.min(5 * 10000, job.rows)).grouped(10000)
    store.batchWithSnapshot(_ => ())
    store.maintain()
    deltas.foreach { ids =>
      val rows = new Rows(shape, ids)
      rows.refresh(1)
      store.batch(putAll(_, rows))
    }
  }

  override def round(number: Int): Seq[Figure] = toTheLastRow() :+ toSomeRows(number)

  private def toTheLastRow() = {
    store.reopen()
    val start = System.nanoTime
    store.reading { from =>
      val rows = from.iterator()
      var sum = shape.read(rows.next().value)
      val loaded = System.nanoTime
      while (rows.hasNext) sum += shape.read(rows.next().value)
      rows.close()
      val scanned = System.nanoTime
      StoreWork.sink = sum
      Seq(
        Figure("load", "ms", (loaded - start) / 1e6),
        Figure("load+scan", "ms", (scanned - start) / 1e6)
      )
    }
  }

  private def toSomeRows(number: Int) = {
    some.refresh(number + 1)
    store.reopen()
    val start = System.nanoTime
    val to = store.begin()
    var sum = 0L
    var i = 0
    while (i < some.keys.length) {
      sum += shape.read(to.get(some.keys(i)))
      to.put(some.keys(i), some.values(i))
      i += 1
    }
    val touched = System.nanoTime
    StoreWork.sink = sum
    store.abort(to)
    Figure("load+1000", "ms", (touched - start) / 1e6)
  }

  /** Maintenance would change what the next round loads. */
  override def settle(): Unit = ()
}

object Load {
  private val NoOtherSnapshot =
    Map("spark.sql.streaming.stateStore.minDeltasForSnapshot" -> "1000")
}

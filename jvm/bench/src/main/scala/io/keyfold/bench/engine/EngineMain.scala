package io.keyfold.bench.engine

import java.util.concurrent.{Callable, ExecutorService, Executors}

import io.keyfold.mem.page.PagePool

/** Counts on the engine alone, without Spark and without files, in 4 stores and by 2 threads:
  * `EngineMain <keys> <rows of a batch> <batches>`. Prints what the steps of a batch take, four
  * times: they differ by what else the machine does.
  */
object EngineMain {
  private val Stores = 4
  private val Rounds = 4

  def main(arguments: Array[String]): Unit = arguments.map(_.toInt) match {
    case Array(keys, rows, batches) => measure(keys, rows, batches)
    case _                          =>
      System.err.println("Give the number of keys, of rows of a batch, and of batches")
      sys.exit(2)
  }

  private def measure(keys: Int, rows: Int, batches: Int): Unit = {
    val pool = new PagePool(budgetBytes = 16L << 30, spill = None)
    val threads = Executors.newFixedThreadPool(2)
    val stores = (0 until Stores).map(new EngineStore(pool, _, Stores))
    def inAll(run: EngineStore => Unit): Double = millis(threads, stores.map(s => () => run(s)))
    def used: Double = stores.map(_.usedBytes).sum.toDouble / keys
    val load = inAll(_.load(keys / Stores))
    println(f"$keys%,d rows: put in $load%,.0f ms, $used%.1f bytes a row")
    for (_ <- 1 to Rounds) {
      stores.foreach(_.clear())
      val times = Seq.fill(batches)(inAll(_.count(keys / Stores, rows / Stores))).sorted
      def perRow(of: EngineStore => Long) = stores.map(of).sum / (rows.toLong * batches)
      println(
        f"a batch of $rows%,d: ${times(batches / 2)}%.1f ms (median); ns a row: get " +
          s"${perRow(_.getNs)}, put ${perRow(_.putNs)}, changes and commit ${perRow(_.commitNs)}"
      )
    }
    println(f"$used%.1f bytes a row")
    sys.exit(0)
  }

  private def millis(threads: ExecutorService, work: Seq[() => Unit]): Double = {
    val start = System.nanoTime
    val running = work.map(run => threads.submit((() => run()): Callable[Unit]))
    running.foreach(_.get())
    (System.nanoTime - start) / 1e6
  }
}

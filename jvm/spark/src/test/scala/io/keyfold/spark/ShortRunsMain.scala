package io.keyfold.spark

import java.io.{File, PrintWriter}

/** What runs of one batch each come to, beside Spark's own providers: `ShortRunsMain RUNS CSV` for
  * Keyfold, `ShortRunsMain RUNS CSV CLASS [SETTING=VALUE ...]` for others.
  *
  * A run is a provider without anything in memory that loads the version of the run before, puts
  * all its keys and commits; then it lives a little, as a process that ends, and is closed. Nobody
  * calls maintenance: it would come after a minute. Settings are Spark's default ones. Each line
  * has the number of the run, milliseconds of its load and of its commit, files and their MB.
  */
object ShortRunsMain {
  private val Keys = 5000

  /** From the commit of a task to the end of its process. */
  private val LivesOnMs = 100L

  def main(args: Array[String]): Unit = {
    val (runs, csv) = (args(0), args(1))
    val className = args.lift(2).getOrElse(classOf[KeyfoldStateStoreProvider].getName)
    val settings = args.drop(3).map(_.split("=", 2)).map(it => it(0) -> it(1)).toMap
    val out = new PrintWriter(csv)
    try ProviderFixture.inFolder()(measure(_, runs.toInt, className, settings, out))
    finally out.close()
  }

  private def measure(
      f: ProviderFixture,
      runs: Int,
      className: String,
      settings: Map[String, String],
      out: PrintWriter
  ): Unit = {
    out.println("runs,load ms,commit ms,files,MB")
    val defaults = Map("spark.sql.streaming.stateStore.minDeltasForSnapshot" -> "10")
    for (run <- 1 to runs) {
      val provider = f.provider(defaults ++ settings, className = className)
      val (store, loadMs) = timed(provider.getStore(run - 1L))
      for (k <- 1 to Keys) store.put(f.key("k", k.toLong), f.value(run.toLong))
      val (_, commitMs) = timed(store.commit())
      store.metrics
      Thread.sleep(LivesOnMs)
      provider.close()
      val files = filesBelow(f.root.toFile)
      val megabytes = files.map(_.length).sum / 1e6
      out.println(f"$run,$loadMs%.1f,$commitMs%.1f,${files.size},$megabytes%.2f")
      out.flush()
    }
  }

  private def timed[T](body: => T): (T, Double) = {
    val start = System.nanoTime
    val result = body
    (result, (System.nanoTime - start) / 1e6)
  }

  /** Without the checksums that Hadoop writes beside Spark's own files. The background may still
    * delete some: a file that has gone has no length.
    */
  private def filesBelow(folder: File): Seq[File] =
    folder.listFiles.toSeq
      .flatMap(it => if (it.isDirectory) filesBelow(it) else Seq(it))
      .filterNot {
        _.getName.endsWith(".crc")
      }
}

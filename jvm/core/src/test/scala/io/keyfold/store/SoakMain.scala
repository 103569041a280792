package io.keyfold.store

import java.io.PrintWriter
import java.nio.file.{Files, Path}
import java.util.concurrent.{Callable, Executors}

import scala.jdk.CollectionConverters._
import scala.util.Random

import io.keyfold.errors.OutOfMemory
import io.keyfold.map.MapsInUse
import io.keyfold.mem.Mem
import io.keyfold.mem.page.{FullDisk, PagePool}
import io.keyfold.testkit.{LocalBlobStore, ProcessUse}

/** `SoakMain <versions> <file>`: commits that many versions, spread over 200 stores that share a
  * pool which they do not fit into, and writes a line of CSV to the file after each 200th of them.
  *
  * Two threads have half of the stores each. Memory ends in both ways: for half of the time there
  * is a disk to spill to, for the other half that is full. An operation that is refused must go
  * through once enough others were unloaded. Every row is compared at every load.
  *
  * Of a process of its own, without the checks that tests run with, as they note every object on
  * the heap.
  */
object SoakMain {
  private val Stores = 200
  private val Workers = 2
  private val Samples = 200
  private val SamplesPerDisk = 5
  private val BudgetBytes = 56L << 20

  def main(arguments: Array[String]): Unit = {
    require(!Mem.Checks)
    val seed = sys.env.get("SEED").filter(_.nonEmpty).fold(1L)(_.toLong)
    val folder = Files.createTempDirectory("keyfold-soak")
    val out = new PrintWriter(Files.newBufferedWriter(Path.of(arguments(1))), true)
    val left =
      try new Soak(folder, seed, out).run(arguments(0).toLong)
      finally {
        out.close()
        delete(folder)
      }
    println(s"$left bytes are left when all stores are closed")
    sys.exit(if (left == 0) 0 else 1)
  }

  private def delete(folder: Path): Unit = {
    val paths = Files.walk(folder)
    try paths.sorted(java.util.Comparator.reverseOrder[Path]).forEach(Files.delete(_))
    finally paths.close()
  }

  private final class Soak(folder: Path, seed: Long, out: PrintWriter) {
    private val disk = new FullDisk(room = 0)
    private val pool = new PagePool(BudgetBytes, Some(disk))
    private val maps = new MapsInUse(pool)
    private val blobs = new LocalBlobStore(folder)
    private val stores = Vector.tabulate(Stores)(new SoakStore(_, blobs, maps, seed))
    private val workers = Vector.tabulate(Workers) { i =>
      new SoakWorker(stores.grouped(Stores / Workers).toVector(i), new Random(seed + i))
    }
    private val start = System.nanoTime

    /** @return bytes of the pool when all is over */
    def run(versions: Long): Long = {
      val threads = Executors.newFixedThreadPool(Workers)
      out.println(Columns.mkString(","))
      try
        for (sample <- 1 to Samples) {
          if ((sample - 1) % SamplesPerDisk == 0) turn((sample - 1) / SamplesPerDisk % 2 == 0)
          val until = versions * sample / Samples / Workers
          val runs = workers.map(worker => (() => worker.run(until)): Callable[Unit])
          threads.invokeAll(runs.asJava).forEach(_.get)
          out.println(line().mkString(","))
        }
      finally threads.shutdown()
      stores.foreach(_.close())
      disk.delete()
      pool.allocatedBytes + pool.mappedBytes
    }

    /** From memory that is in files nobody would be refused any, so all of it is given back. */
    private def turn(hasDisk: Boolean): Unit = {
      stores.foreach(_.unload())
      disk.room = if (hasDisk) Int.MaxValue else 0
    }

    private def line(): Seq[Long] = {
      val (inUse, objects) = maps.count()
      val (files, bytes) = ProcessUse.files(folder)
      Seq(
        (System.nanoTime - start) / 1000000000,
        stores.map(_.commits).sum,
        stores.map(_.loads).sum,
        workers.map(_.refusals).sum,
        pool.allocatedBytes,
        pool.mappedBytes,
        pool.allocatedBytes + pool.mappedBytes - pool.freeBytes,
        inUse.toLong,
        objects,
        ProcessUse.heap(),
        ProcessUse.resident(),
        ProcessUse.handles(),
        ProcessUse.mappings(),
        ProcessUse.threads().toLong,
        files,
        bytes
      )
    }
  }

  private val Columns = Seq(
    "seconds",
    "versions",
    "loads",
    "refusals",
    "pool off heap",
    "pool in files",
    "pool in use",
    "maps",
    "objects",
    "heap",
    "resident",
    "handles",
    "mappings",
    "threads",
    "files",
    "bytes of files"
  )

  /** Takes steps with its stores, one at a time. */
  private final class SoakWorker(stores: Vector[SoakStore], random: Random) {
    var refusals = 0L

    /** Goes on until its stores have committed that many versions. */
    def run(versions: Long): Unit = {
      var missing = versions - stores.map(_.commits).sum
      while (missing > 0) {
        val store = stores(random.nextInt(stores.size))
        val before = store.commits
        insist(store.nextStep(), random.shuffle(stores.filter(_ ne store)).iterator)
        missing -= store.commits - before
      }
    }

    /** Unloads other stores, one after the other, until there is room for a step. */
    private def insist(step: () => Unit, others: Iterator[SoakStore]): Unit = {
      var refused = true
      while (refused) {
        try {
          step()
          refused = false
        } catch {
          case e: OutOfMemory if e.condition == "KEYFOLD_OUT_OF_MEMORY" =>
            refusals += 1
            if (!others.exists(_.unload())) throw new AssertionError("refused, alone", e)
        }
      }
    }
  }
}

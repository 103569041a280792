package io.keyfold.mem.page

import java.nio.channels.{ClosedByInterruptException, FileChannel}
import java.nio.file.{Files, Path}
import java.nio.file.StandardOpenOption.WRITE

import scala.util.Random

import io.keyfold.errors.OutOfMemory
import io.keyfold.mem.Mem
import org.scalatest.BeforeAndAfterEach
import org.scalatest.funsuite.AnyFunSuite

class PagePoolSuite extends AnyFunSuite with BeforeAndAfterEach {
  private val MiB = 1L << 20
  private val PageBytes = PagePool.PageBytes.toLong
  private var folder: Path = _

  override def beforeEach(): Unit = folder = Files.createTempDirectory("keyfold-spill")
  override def afterEach(): Unit = {
    assert(folder.toFile.list.isEmpty)
    Files.delete(folder)
  }

  private def counters(pool: PagePool) = (pool.allocatedBytes, pool.mappedBytes, pool.freeBytes)

  private def fill(pool: PagePool, pages: Int): Seq[PageRun] =
    Seq.fill(pages)(pool.allocate(1))

  test("a pool that was not asked for anything has nothing") {
    assert(counters(new PagePool(64 * MiB, None)) == ((0, 0, 0)))
  }

  test("pages come from regions of 1 MiB; the last page gives everything back") {
    val pool = new PagePool(64 * MiB, None)
    val runs = fill(pool, 65)
    assert(counters(pool) == ((2 * MiB, 0, 2 * MiB - 65 * PageBytes)))
    runs.foreach(pool.free)
    assert(counters(pool) == ((0, 0, 0)))
  }

  test("one free region is kept while any page is in use, the others go back") {
    val pool = new PagePool(64 * MiB, None)
    val runs = fill(pool, 3 * 64 + 1)
    runs.init.foreach(pool.free)
    assert(counters(pool) == ((2 * MiB, 0, 2 * MiB - PageBytes)))
    pool.free(runs.last)
  }

  test("free regions are kept up to half of what is in use") {
    val pool = new PagePool(64 * MiB, None)
    val runs = fill(pool, 20 * 64)
    runs.take(5 * 64).foreach(pool.free)
    assert(counters(pool) == ((20 * MiB, 0, 5 * MiB)))
    runs.slice(5 * 64, 12 * 64).foreach(pool.free)
    assert(counters(pool) == ((12 * MiB, 0, 4 * MiB)))
    runs.drop(12 * 64).foreach(pool.free)
    assert(counters(pool) == ((0, 0, 0)))
  }

  test("runs are in a row, apart from each other, and writable to the last byte") {
    val pool = new PagePool(256 * MiB, None)
    val random = new Random(42)
    val runs = (1 to 500).map { i =>
      val run = pool.allocate(if (i % 50 == 0) 65 + random.nextInt(100) else 1 + random.nextInt(8))
      Mem.fill(run.address, run.pages * PageBytes, i.toByte)
      run
    }
    for ((run, i) <- runs.zipWithIndex; at <- 0L until run.pages * PageBytes by 4096) {
      assert(Mem.getByte(null, run.address + at) == (i + 1).toByte)
    }
    random.shuffle(runs).foreach(pool.free)
    assert(counters(pool) == ((0, 0, 0)))
  }

  test("a run of more than a region gets one of its own, which goes back with it") {
    val pool = new PagePool(64 * MiB, None)
    val one = pool.allocate(1)
    val long = pool.allocate(100)
    assert(pool.allocatedBytes == MiB + 100 * PageBytes)
    assert(long.pages == 100)
    pool.free(long)
    assert(pool.allocatedBytes == MiB)
    pool.free(one)
  }

  test("freed pages are used again, also by longer runs once they are in a row") {
    val pool = new PagePool(MiB, None)
    val runs = fill(pool, 64)
    for (i <- Seq(20, 22, 21)) pool.free(runs(i))
    assert(pool.allocate(3).address == runs(20).address)
    intercept[OutOfMemory](pool.allocate(1))
    runs.indices.filter(i => i < 20 || i > 22).foreach(i => pool.free(runs(i)))
  }

  test("a new run goes where it leaves least room") {
    val pool = new PagePool(2 * MiB, None)
    val runs = fill(pool, 128).sortBy(_.address)
    val (low, high) = runs.splitAt(64)
    low.take(10).foreach(pool.free)
    high.take(2).foreach(pool.free)
    assert(pool.allocate(2).address == high.head.address)
    assert(pool.allocate(2).address == low.head.address)
  }

  test("the budget is a bound: without files the next page is an error that says what to do") {
    val pool = new PagePool(2 * MiB + 1000, None)
    val runs = fill(pool, 128)
    val error = intercept[OutOfMemory](pool.allocate(1))
    assert(error.condition == "KEYFOLD_OUT_OF_MEMORY")
    assert(
      error.getMessage == "[KEYFOLD_OUT_OF_MEMORY] Cannot take 16384 bytes more for state: " +
        "2097152 of 2098152 bytes off the heap are in use, 0 bytes are in files, and there is no " +
        "folder to spill to. Raise spark.sql.streaming.stateStore.keyfold.memory.maxBytes (and " +
        "the executor's memory overhead with it), free space in the local directories to which " +
        "state spills, or use more executors."
    )
    pool.free(runs.head)
    assert(pool.allocate(1).address == runs.head.address)
  }

  test("beyond the budget pages come from files, which have no name and go back") {
    val pool = new PagePool(MiB, Some(new SpillFiles(folder)))
    val inMemory = fill(pool, 64)
    val inFiles = fill(pool, 1025)
    assert(folder.toFile.list.isEmpty)
    assert(pool.allocatedBytes == MiB)
    assert(pool.mappedBytes == 32 * MiB)
    for ((run, i) <- (inMemory ++ inFiles).zipWithIndex) Mem.putInt(null, run.address, i)
    for ((run, i) <- (inMemory ++ inFiles).zipWithIndex) assert(Mem.getInt(null, run.address) == i)
    inFiles.foreach(pool.free)
    assert(pool.mappedBytes == 16 * MiB, "one is kept while main memory is used up")
    pool.free(inMemory.head)
    assert(pool.mappedBytes == 16 * MiB)
    inMemory.tail.foreach(pool.free)
    assert(counters(pool) == ((0, 0, 0)))
  }

  test("pages come off the heap again as soon as there are some, and files are given up") {
    val pool = new PagePool(2 * MiB, Some(new SpillFiles(folder)))
    val inMemory = fill(pool, 128)
    val inFile = pool.allocate(1)
    pool.free(inMemory.head)
    assert(pool.allocate(1).address == inMemory.head.address)
    pool.free(inFile)
    assert(pool.mappedBytes == 16 * MiB)
    inMemory.take(64).foreach(pool.free)
    assert(pool.mappedBytes == 0, "a whole region off the heap is free")
    inMemory.drop(64).foreach(pool.free)
  }

  test("without any budget everything is in files; a long run gets a file of its own") {
    val pool = new PagePool(0, Some(new SpillFiles(folder)))
    val run = pool.allocate(1025)
    assert(counters(pool) == ((0, 1025 * PageBytes, 0)))
    Mem.putLong(null, run.address + 1025 * PageBytes - 8, 42L)
    val page = pool.allocate(1)
    assert(pool.mappedBytes == 1025 * PageBytes + 16 * MiB)
    pool.free(page)
    pool.free(run)
    assert(counters(pool) == ((0, 0, 0)))
  }

  test("a disk that is full is an error, not a signal, and the pool goes on") {
    var full = true
    val files = new SpillFiles(folder) {
      override private[mem] def open(file: Path): FileChannel = {
        val channel = super.open(file)
        if (full) {
          channel.close()
          FileChannel.open(Path.of("/dev/full"), WRITE)
        } else channel
      }
    }
    val pool = new PagePool(MiB, Some(files))
    val runs = fill(pool, 64)
    val error = intercept[OutOfMemory](pool.allocate(1))
    assert(error.getMessage.contains(s"a file of 16777216 bytes in $folder failed"))
    assert(error.getMessage.contains("No space left on device"))
    assert(error.getCause.isInstanceOf[java.io.IOException])
    assert(counters(pool) == ((MiB, 0, 0)))
    full = false
    (runs :+ pool.allocate(1)).foreach(pool.free)
    assert(counters(pool) == ((0, 0, 0)))
  }

  test("an interrupt is not taken for a full disk, and the pool goes on") {
    val pool = new PagePool(0, Some(new SpillFiles(folder)))
    Thread.currentThread.interrupt()
    intercept[ClosedByInterruptException](pool.allocate(1))
    assert(Thread.interrupted())
    pool.free(pool.allocate(1))
    assert(counters(pool) == ((0, 0, 0)) && folder.toFile.list.isEmpty)
  }

  test("a folder that is not there is an error that names it") {
    val missing = folder.resolve("missing")
    val error =
      intercept[OutOfMemory](new PagePool(0, Some(new SpillFiles(missing))).allocate(1))
    assert(error.getMessage.contains(s"NoSuchFileException: $missing/keyfold-"))
  }

  test("spill files are readable for nobody else") {
    val channel = new SpillFiles(folder) {
      override private[mem] def open(file: Path): FileChannel = {
        val channel = super.open(file)
        // The name is gone, but the process still shows the open file.
        val mine = Files
          .list(Path.of("/proc/self/fd"))
          .filter(fd => Files.isSymbolicLink(fd))
          .filter(fd => Files.readSymbolicLink(fd).toString.startsWith(file.toString))
          .findFirst
          .get
        assert(
          Files.getAttribute(mine, "unix:mode").asInstanceOf[Int] % 512 == Integer.parseInt(
            "600",
            8
          )
        )
        channel
      }
    }
    Mem.unmap {
      val buffer = channel.map(PageBytes)
      Mem.addressOf(buffer)
      buffer
    }
  }

  test("a run cannot be freed twice, and its number of pages is checked") {
    val pool = new PagePool(MiB, None)
    val run = pool.allocate(2)
    val other = pool.allocate(1)
    pool.free(run)
    val message = intercept[IllegalStateException](pool.free(run)).getMessage
    assert(message == f"2 pages at 0x${run.address}%x are free already")
    intercept[IllegalArgumentException](pool.allocate(0))
    intercept[IllegalArgumentException](pool.allocate(PagePool.MaxRunPages + 1))
    pool.free(other)
    assert(counters(pool) == ((0, 0, 0)))
  }

  test("when the machine refuses memory within the budget, files take its place") {
    def refuse(bytes: Long): Long = throw new OutOfMemoryError("Unable to allocate")
    val pool = new PagePool(MiB, Some(new SpillFiles(folder)), refuse)
    val run = pool.allocate(1)
    assert(counters(pool) == ((0, 16 * MiB, 16 * MiB - PageBytes)))
    pool.free(run)
    val error = intercept[OutOfMemory](new PagePool(MiB, None, refuse).allocate(1))
    assert(error.getMessage.contains("and the system refused another 1048576 bytes."))
  }
}

package io.keyfold.mem.arena

import java.nio.file.{Files, Path}
import java.util.concurrent.{BrokenBarrierException, CyclicBarrier, TimeUnit}
import java.util.concurrent.atomic.AtomicReference

import scala.util.Random

import io.keyfold.errors.OutOfMemory
import io.keyfold.mem.Mem
import io.keyfold.mem.page.PagePool
import org.scalatest.Outcome
import org.scalatest.funsuite.AnyFunSuite

class ArenaSuite extends AnyFunSuite {
  private val PageBytes = PagePool.PageBytes.toLong
  private var pool: PagePool = _
  private var arena: Arena = _

  override def withFixture(test: NoArgTest): Outcome = {
    pool = new PagePool(256L << 20, None)
    arena = new Arena(pool)
    try super.withFixture(test)
    finally {
      arena.close()
      if (pool.allocatedBytes != 0) fail("the arena has left pages behind")
    }
  }

  private def put(handle: Int, value: Long): Unit =
    Mem.putLong(null, arena.addresses.of(handle), value)

  private def get(addresses: Addresses, handle: Int): Long =
    Mem.getLong(null, addresses.of(handle))

  test("an arena with nothing in it holds no page") {
    assert((arena.pageBytes, arena.liveBytes, arena.liveObjects) == ((0, 0, 0)))
    assert(pool.allocatedBytes == 0)
  }

  test("a few small objects hold a page for each size class") {
    for (bytes <- Seq(8, 56, 56, 200, 2000); _ <- 1 to 3) arena.allocate(bytes)
    assert(arena.pageBytes == 4 * PageBytes)
    assert(arena.liveObjects == 15)
    assert(arena.liveBytes == 3 * (8 + 56 + 56 + 208 + 2048))
  }

  test("a page is used to the end: 292 objects of 56 bytes") {
    val handles = Seq.fill(292)(arena.allocate(56))
    assert(arena.pageBytes == PageBytes)
    assert(handles.map(arena.addresses.of).sorted.sliding(2).forall(a => a(1) - a(0) == 56))
    arena.allocate(56)
    assert(arena.pageBytes == 2 * PageBytes)
  }

  test("a changed value fits in place if the size class is the same") {
    assert(
      Seq(0, 1, 8, 9, 128, 129, 144, 145).map(arena.sizeClass) ==
        Seq(8, 8, 8, 16, 128, 144, 144, 160)
    )
    assert(arena.sizeClass(65536) == 65536)
    assert(arena.sizeClass(65537) == 5 * 16384)
    assert(arena.sizeClass(Arena.LargestBytes) == Arena.LargestBytes)
  }

  test("a size below 0 or too large is refused, and changes nothing") {
    for (bytes <- Seq(-1, Int.MinValue, Arena.LargestBytes + 1)) {
      intercept[IllegalArgumentException](arena.sizeClass(bytes))
      intercept[IllegalArgumentException](arena.allocate(bytes))
    }
    assert(arena.pageBytes == 0)
  }

  test("freed objects are used again before new pages are taken") {
    val handles = Seq.fill(2000)(arena.allocate(56))
    val held = arena.pageBytes
    val (freed, kept) = handles.zipWithIndex.partition(_._2 % 3 == 0)
    freed.foreach(it => arena.free(it._1))
    val again = Seq.fill(freed.size)(arena.allocate(56))
    assert(again.toSet == freed.map(_._1).toSet)
    assert(arena.pageBytes == held)
    assert(kept.forall { case (handle, _) => arena.addresses.of(handle) != 0 })
  }

  test("a slab that becomes empty goes back; one is kept while no other has room") {
    val handles = Seq.fill(3 * 292)(arena.allocate(56))
    handles.take(292).foreach(arena.free)
    assert(arena.pageBytes == 3 * PageBytes, "the only slab with room")
    handles.slice(292, 2 * 292).foreach(arena.free)
    assert(arena.pageBytes == 2 * PageBytes)
    handles.drop(2 * 292).foreach(arena.free)
    assert(arena.pageBytes == 0)
  }

  test("slabs that were full fill up again first, so that emptier ones can go") {
    val handles = Seq.fill(2 * 292)(arena.allocate(56))
    val (first, second) = handles.splitAt(292)
    first.take(291).foreach(arena.free)
    second.take(1).foreach(arena.free)
    assert(arena.allocate(56) == second.head)
  }

  test("large objects have pages of their own, as far as they reach") {
    val handle = arena.allocate(100000)
    assert(arena.pageBytes == 7 * PageBytes)
    assert(arena.liveBytes == 7 * PageBytes)
    val address = arena.addresses.of(handle)
    Mem.fill(address, 7 * PageBytes, 1)
    arena.free(handle)
    assert(arena.pageBytes == 0)
  }

  test("a million objects come and go, and nothing is left") {
    val random = new Random(7)
    val handles = new Array[Int](5000)
    for (_ <- 1 to 1000000) {
      val i = random.nextInt(handles.length)
      if (handles(i) != 0) arena.free(handles(i))
      handles(i) = arena.allocate(8 + random.nextInt(120))
    }
    assert(arena.liveObjects <= handles.length)
    assert(pool.allocatedBytes <= (4L << 20), "5000 objects of at most 128 bytes are 640 KB")
    handles.filter(_ != 0).foreach(arena.free)
    assert((arena.pageBytes, arena.liveBytes, arena.liveObjects) == ((0, 0, 0)))
    assert(pool.allocatedBytes == 0)
  }

  test("memory goes back to the system: what is resident does not grow from round to round") {
    def resident: Long = Files
      .readString(Path.of("/proc/self/status"))
      .linesIterator
      .collectFirst { case s"VmRSS:$kilobytes kB" => kilobytes.trim.toLong << 10 }
      .get
    def round(): Unit = {
      val handles = Array.fill(20000)(arena.allocate(400))
      handles.foreach(arena.free)
    }
    round()
    val before = resident
    for (_ <- 1 to 10) round()
    info(s"resident $before bytes after the first round, $resident after ten more")
    assert(resident < 3 * before)
  }

  test("a second free, and a handle that was never there, are found") {
    assume(Mem.Checks)
    val handles = Seq.fill(10)(arena.allocate(56))
    arena.free(handles(3))
    val message = intercept[IllegalStateException](arena.free(handles(3))).getMessage
    assert(message == f"Handle 0x${handles(3)}%08x is no live object: freed, or never there")
    for (handle <- Seq(0, 1, handles(0) + 1, -1, handles(0) + (1 << 20))) {
      intercept[IllegalStateException](arena.free(handle))
      intercept[IllegalStateException](arena.addresses.of(handle))
    }
    assert(arena.liveObjects == 9)
  }

  test("the address of a freed object is refused, by snapshots too") {
    assume(Mem.Checks)
    val kept = arena.allocate(56)
    val handle = arena.allocate(56)
    val snapshot = arena.snapshotAddresses()
    arena.free(handle)
    intercept[IllegalStateException](arena.addresses.of(handle))
    intercept[IllegalStateException](snapshot.of(handle))
    assert(snapshot.of(kept) == arena.addresses.of(kept))
  }

  test("new and freed memory has patterns, and a late write is found") {
    assume(Mem.Checks)
    val kept = arena.allocate(56)
    val handle = arena.allocate(56)
    val address = arena.addresses.of(handle)
    for (i <- 0 until 56) assert(Mem.getByte(null, address + i) == 0xa5.toByte)
    arena.free(handle)
    for (i <- 4 until 56) assert(Mem.getByte(null, address + i) == 0xde.toByte)
    Mem.putByte(null, address + 50, 1)
    val message = intercept[IllegalStateException](arena.allocate(56)).getMessage
    assert(message == f"Handle 0x$handle%08x was written to at byte 50 after it was freed")
    arena.free(kept)
  }

  test("when the pool has no more, nothing has changed and the arena goes on") {
    val small = new PagePool(1L << 20, None)
    val limited = new Arena(small)
    val handles = Iterator.continually(limited.allocate(4096)).take(256).toSeq
    val before = (limited.pageBytes, limited.liveBytes, limited.liveObjects)
    for (bytes <- Seq(8, 4096, 3000, 100000)) {
      intercept[OutOfMemory](limited.allocate(bytes))
      assert((limited.pageBytes, limited.liveBytes, limited.liveObjects) == before)
    }
    limited.free(handles(100))
    assert(limited.allocate(4000) == handles(100))
    limited.close()
    assert(small.allocatedBytes == 0)
  }

  test("when the handles are used up the error says so, and freed ones come again") {
    val limited = new Arena(pool, new PageNumbers(first = 1, end = 4))
    val handles = Seq.fill(3)(limited.allocate(100000))
    val error = intercept[OutOfMemory](limited.allocate(8))
    assert(error.getMessage.contains("the handles of its 32 GiB are used up"))
    assert(pool.freeBytes + limited.pageBytes == pool.allocatedBytes)
    limited.free(handles(1))
    assert(limited.allocate(8) == handles(1))
    limited.close()
  }

  test("page numbers come back with their pages, and where there were no pages for them") {
    val small = new PagePool(1L << 20, None)
    val limited = new Arena(small, new PageNumbers(first = 1, end = 6))
    for (_ <- 1 to 3) {
      val handle = limited.allocate(40960)
      assert(limited.pageBytes == 5 * PageBytes)
      limited.free(handle)
    }
    val others = small.allocate(60)
    for (_ <- 1 to 3) {
      val error = intercept[OutOfMemory](limited.allocate(40960))
      assert(error.getMessage.contains("there is no folder to spill to"))
    }
    small.free(others)
    limited.allocate(40960)
    limited.close()
  }

  test("handles above 2^31 are negative and work") {
    val high = new Arena(pool, new PageNumbers(first = (1 << 20) - 2, end = 1 << 21))
    val handles = Seq.fill(5 * 8)(high.allocate(2048))
    assert(handles.head > 0 && handles.last < 0)
    for ((handle, i) <- handles.zipWithIndex) {
      Mem.putLong(null, high.addresses.of(handle), i.toLong)
    }
    for ((handle, i) <- handles.zipWithIndex) assert(get(high.addresses, handle) == i)
    handles.foreach(high.free)
    assert(high.pageBytes == 0)
    val last = new Arena(pool, new PageNumbers(first = (1 << 21) - 1, end = 1 << 21))
    val ends = Seq.fill(2048)(last.allocate(8))
    assert(ends.last == -1)
    intercept[OutOfMemory](last.allocate(8))
    last.close()
  }

  test("close gives back what lives as well, and nothing can follow") {
    for (bytes <- Seq(8, 56, 3000, 20000, 200000)) arena.allocate(bytes)
    val handle = arena.allocate(56)
    arena.close()
    assert((arena.pageBytes, arena.liveBytes, arena.liveObjects) == ((0, 0, 0)))
    assert(pool.allocatedBytes == 0)
    intercept[IllegalStateException](arena.allocate(8))
    intercept[IllegalStateException](arena.allocate(100000))
    intercept[IllegalStateException](arena.free(handle))
    if (Mem.Checks) intercept[IllegalStateException](arena.addresses.of(handle))
    arena.close()
  }

  test("a snapshot reads what lived when it was made, whatever the owner does meanwhile") {
    val rounds = 6
    val read = 2000
    val step = new CyclicBarrier(2)
    def await(): Unit = {
      step.await(60, TimeUnit.SECONDS)
      ()
    }
    val shared = new AtomicReference[(Addresses, Array[Int])]
    val failure = new AtomicReference[Throwable]
    val reader = new Thread(() =>
      try
        for (round <- 1 to rounds) {
          await() // the snapshot is there
          val (addresses, handles) = shared.get
          // The owner allocates and frees beside this loop.
          for (_ <- 1 to 5; i <- handles.indices) {
            assert(get(addresses, handles(i)) == round * 1000000L + i)
          }
          await() // done reading
        }
      catch {
        case e: Throwable =>
          failure.set(e)
          step.reset()
      }
    )
    reader.start()
    val random = new Random(3)
    try
      for (round <- 1 to rounds) {
        val kept = Array.tabulate(read) { i =>
          val handle = arena.allocate(56)
          put(handle, round * 1000000L + i)
          handle
        }
        // In the way, so that pages of the kept ones are shared with others that go.
        val others = Array.fill(3000)(arena.allocate(8 + random.nextInt(5000)))
        shared.set((arena.snapshotAddresses(), kept))
        await()
        others.foreach(arena.free)
        // Takes the page numbers again, and makes the table of addresses grow.
        val more = Array.fill(2000 * round)(arena.allocate(8 + random.nextInt(3000)))
        more.foreach(arena.free)
        await()
        kept.foreach(arena.free)
      }
    catch { case _: BrokenBarrierException => fail(failure.get) }
    reader.join(60000)
    assert(failure.get == null)
    assert(arena.pageBytes == 0)
  }
}

package io.keyfold.mem.arena

import java.nio.file.Files

import scala.collection.mutable

import io.keyfold.mem.Mem
import io.keyfold.mem.page.{PagePool, SpillFiles}
import io.keyfold.testkit.SeededChecks
import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite

/** An arena against a model: what was written to each object is there until it is freed. */
class ArenaModelSuite extends AnyFunSuite with SeededChecks {
  private sealed trait Op
  private case class Allocate(bytes: Int) extends Op
  private case class Free(which: Int) extends Op
  private case object Snapshot extends Op

  private val sizes = Gen.frequency(
    20 -> Gen.choose(0, 130),
    5 -> Gen.choose(0, 5000),
    2 -> Gen.choose(5000, 70000),
    1 -> Gen.choose(60000, 300000)
  )
  private val ops = Gen.frequency[Op](
    11 -> sizes.map(Allocate),
    9 -> Gen.posNum[Int].map(Free),
    1 -> Gen.const(Snapshot)
  )

  private case class Live(handle: Int, bytes: Int, seed: Long)

  private final class Checked(arena: Arena) {
    private val live = mutable.Buffer.empty[Live]
    private var snapshot: Option[(Addresses, Set[Live])] = None
    private var seed = 0L

    def run(op: Op): Unit = op match {
      case Allocate(bytes) =>
        seed += 1
        val handle = arena.allocate(bytes)
        assert(handle != 0)
        assert(!live.exists(_.handle == handle))
        write(arena.addresses.of(handle), bytes, seed)
        live += Live(handle, bytes, seed)
      case Free(which) =>
        if (live.nonEmpty) {
          val it = live.remove(which % live.size)
          verify(arena.addresses, it)
          snapshot = snapshot.map { case (addresses, rows) => (addresses, rows - it) }
          arena.free(it.handle)
          if (Mem.Checks) assertThrows[IllegalStateException](arena.free(it.handle))
          ()
        }
      case Snapshot => snapshot = Some((arena.snapshotAddresses(), live.toSet))
    }

    def verifyAll(): Unit = {
      live.foreach(verify(arena.addresses, _))
      for ((addresses, rows) <- snapshot; row <- rows) verify(addresses, row)
      assert(arena.liveObjects == live.size)
      assert(arena.liveBytes == live.map(it => arena.sizeClass(it.bytes).toLong).sum)
      assert(arena.pageBytes >= arena.liveBytes)
      ()
    }

    def freeAll(): Unit = while (live.nonEmpty) run(Free(seed.toInt))

    private def write(address: Long, bytes: Int, seed: Long): Unit = {
      assert(address % 8 == 0)
      for (i <- ends(bytes)) Mem.putByte(null, address + i, pattern(seed, i))
    }

    private def verify(addresses: Addresses, it: Live): Unit = {
      val address = addresses.of(it.handle)
      for (i <- ends(it.bytes)) {
        assert(Mem.getByte(null, address + i) == pattern(it.seed, i), it)
      }
    }

    /** Ends matter most; every byte of a large object would take long. */
    private def ends(bytes: Int): Iterator[Int] =
      (0 until math.min(bytes, 200)).iterator ++ (math.max(200, bytes - 20) until bytes)

    private def pattern(seed: Long, i: Int): Byte = (seed * 31 + i * 7).toByte
  }

  private def check(pool: PagePool, times: Int): Unit =
    forEach(Gen.choose(1, 600).flatMap(Gen.listOfN(_, ops)), times) { sequence =>
      val arena = new Arena(pool)
      try {
        val checked = new Checked(arena)
        sequence.foreach(checked.run)
        checked.verifyAll()
        checked.freeAll()
        checked.verifyAll()
        assert(arena.pageBytes == 0)
      } finally arena.close()
      assert(pool.allocatedBytes == 0 && pool.mappedBytes == 0)
    }

  test("objects keep what was written, and everything freed is nothing held") {
    check(new PagePool(1L << 30, None), times = 200)
  }

  test("the same when most of it is in files") {
    val folder = Files.createTempDirectory("keyfold-spill")
    check(new PagePool(1L << 20, Some(new SpillFiles(folder))), times = 20)
    Files.delete(folder)
  }
}

package io.keyfold.mem

import java.nio.{ByteBuffer, ByteOrder}
import java.util.Arrays

import scala.util.Random

import io.keyfold.testkit.SeededChecks
import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite

class MemSuite extends AnyFunSuite with SeededChecks {

  /** Memory of `Room` bytes, on the heap or off it. */
  private final class Place(val name: String, val base: AnyRef, val start: Long) {
    def write(at: Int, bytes: Array[Byte]): Unit =
      bytes.indices.foreach(i => Mem.putByte(base, start + at + i, bytes(i)))
    def read(at: Int, length: Int): Array[Byte] =
      Array.tabulate(length)(i => Mem.getByte(base, start + at + i))
  }

  private val Room = 512

  private def withPlaces(body: Seq[Place] => Any): Unit = {
    val address = Mem.allocate(Room.toLong)
    try {
      body(
        Seq(
          new Place("heap", new Array[Byte](Room), Mem.ArrayOffset),
          new Place("off heap", null, address)
        )
      )
      ()
    } finally Mem.free(address)
  }

  private def random(length: Int, seed: Long): Array[Byte] = {
    val bytes = new Array[Byte](length)
    new Random(seed).nextBytes(bytes)
    bytes
  }

  test("values come back as they were put, at any alignment and in the machine's order") {
    withPlaces { places =>
      for (place <- places; at <- 0 to 8) {
        Mem.putLong(place.base, place.start + at, 0x0123456789abcdefL)
        assert(Mem.getLong(place.base, place.start + at) == 0x0123456789abcdefL, place.name)
        val bytes = ByteBuffer.wrap(place.read(at, 8)).order(ByteOrder.nativeOrder)
        assert(bytes.getLong(0) == 0x0123456789abcdefL, place.name)
        Mem.putInt(place.base, place.start + at, 0xcafebabe)
        assert(Mem.getInt(place.base, place.start + at) == 0xcafebabe, place.name)
        Mem.putByte(place.base, place.start + at, -7)
        assert(Mem.getByte(place.base, place.start + at) == -7, place.name)
      }
    }
  }

  test("a fill sets its range and nothing beside it") {
    withPlaces { places =>
      val place = places(1)
      place.write(0, new Array[Byte](32))
      Mem.fill(place.start + 3, 21, 0x5a)
      assert(place.read(0, 32).zipWithIndex.forall { case (b, i) =>
        b == (if (i >= 3 && i < 24) 0x5a else 0)
      })
    }
  }

  test("a move may overlap, forwards and backwards") {
    withPlaces { places =>
      for (place <- places; length <- Seq(0, 1, 7, 8, 9, 31, 64, 100); to <- 0 to 60) {
        val bytes = random(Room, length * 100L + to)
        place.write(0, bytes)
        Mem.move(place.base, place.start + 30, place.base, place.start + to, length)
        System.arraycopy(bytes, 30, bytes, to, length)
        assert(Arrays.equals(place.read(0, Room), bytes), s"$length bytes to $to, ${place.name}")
      }
    }
  }

  test("a copy goes between heap and off heap") {
    withPlaces { places =>
      val heap = places(0)
      val off = places(1)
      heap.write(0, random(Room, 1))
      for (length <- Seq(0, 1, 7, 8, 9, 31, 100, 127, 128, 129, 200)) {
        off.write(0, random(Room, 2))
        val before = off.read(0, Room)
        Mem.copy(heap.base, heap.start + 3, off.base, off.start + 1, length)
        val expected = before.take(1) ++ heap.read(3, length) ++ before.drop(1 + length)
        assert(Arrays.equals(off.read(0, Room), expected), s"$length bytes")
        Mem.copy(off.base, off.start + 1, heap.base, heap.start + 203, length)
        assert(Arrays.equals(heap.read(3, length), heap.read(203, length)), s"$length bytes")
      }
    }
  }

  /** Two runs of bytes that often begin alike, and where to put them. */
  private val pairs = for {
    common <- Gen.choose(0, 40)
    left <- Gen.choose(0, 12)
    right <- Gen.choose(0, 12)
    seed <- Gen.long
    aAt <- Gen.choose(0, 9)
    bAt <- Gen.choose(0, 9)
  } yield {
    val start = random(common, seed)
    (start ++ random(left, seed + 1), start ++ random(right, seed + 2), aAt, bAt)
  }

  test("compare orders as unsigned bytes, wherever they lie, and equal says the same") {
    withPlaces { places =>
      forEach(pairs, 2000) { case (a, b, aAt, bAt) =>
        for (x <- places; y <- places) {
          // In halves, so that two runs in one place do not touch.
          x.write(aAt, a)
          y.write(128 + bAt, b)
          val order = Mem.compare(
            x.base,
            x.start + aAt,
            a.length,
            y.base,
            y.start + 128 + bAt,
            b.length
          )
          assert(order.sign == Arrays.compareUnsigned(a, b).sign)
          val length = math.min(a.length, b.length)
          assert(
            Mem.equal(x.base, x.start + aAt, y.base, y.start + 128 + bAt, length) ==
              Arrays.equals(a.take(length), b.take(length))
          )
        }
      }
    }
  }

  test("one bit anywhere makes a difference to equal and compare") {
    for (length <- 1 to 33; at <- 0 until length) {
      val a = random(length, length.toLong)
      val b = a.clone()
      b(at) = (b(at) ^ 0x80).toByte
      assert(!Mem.equal(a, Mem.ArrayOffset, b, Mem.ArrayOffset, length))
      val order = Mem.compare(a, Mem.ArrayOffset, length, b, Mem.ArrayOffset, length)
      assert(order.sign == Arrays.compareUnsigned(a, b).sign)
    }
  }

  test("hash multiplies and folds sixteen bytes at a time, under its key") {
    val two64 = BigInt(1) << 64
    def unsigned(x: Long) = if (x < 0) BigInt(x) + two64 else BigInt(x)
    def folded(a: Long, b: Long) = {
      val product = unsigned(a) * unsigned(b)
      (product / two64).toLong ^ product.toLong
    }
    for (length <- 0 to 70; seed <- 1 to 20) {
      val bytes = random(length, seed.toLong)
      val key = random(16, -seed.toLong)
      def word(of: Array[Byte], at: Int) =
        ByteBuffer.wrap(of, at, 8).order(ByteOrder.nativeOrder).getLong
      val (key0, key1) = (word(key, 0), word(key, 8))
      // Where the two words of each step are; the last ones are at the end.
      val steps =
        if (length < 8) Seq((BigInt(1, bytes).toLong, 0L))
        else if (length < 16) Seq((word(bytes, 0), word(bytes, length - 8)))
        else {
          ((0 until length - 16 by 16) :+ (length - 16))
            .map(at => (word(bytes, at), word(bytes, at + 8)))
        }
      val all = steps.foldLeft(key0) { case (h, (a, b)) => folded(a ^ h, b ^ key1) }
      val expected = folded(all ^ length.toLong, java.lang.Long.rotateLeft(key1, 32))
      assert(Mem.hash(bytes, Mem.ArrayOffset, length, key0, key1) == expected, s"length $length")
    }
  }

  test("hash depends on the bytes alone, not on where they are") {
    withPlaces { places =>
      for (length <- 0 to 40) {
        val bytes = random(length, length.toLong)
        val hashes = for (place <- places; at <- 0 to 8) yield {
          place.write(at, bytes)
          Mem.hash(place.base, place.start + at, length, 1L, 2L)
        }
        assert(hashes.distinct.size == 1, s"length $length")
      }
    }
  }
}

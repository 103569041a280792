package io.keyfold.map

import java.nio.ByteBuffer
import java.nio.ByteOrder.LITTLE_ENDIAN

import scala.util.Random

import io.keyfold.map.arena.ArenaMap
import io.keyfold.map.hash.{HashKey, HashPages}
import io.keyfold.mem.{Mem, Slice}
import io.keyfold.mem.page.PagePool
import io.keyfold.model.{FamilySpec, VersionId}
import org.scalatest.funsuite.AnyFunSuite

/** Keys that somebody has chosen so that another hash is the same for all of them, or for many:
  * MurmurHash64A with any seed, and products of numbers with a sign under any key.
  */
class CollidingKeysSuite extends AnyFunSuite {
  import CollidingKeysSuite._

  test(s"$Keys keys with one MurmurHash64A are spread over leaves of the usual size") {
    assert((0 until 1000).map(i => murmur(key(i), seed = 42)).distinct.size == 1)
    assert((0 until 1000).map(i => murmur(key(i), seed = -7)).distinct.size == 1)
    val map = new ArenaMap(1, new PagePool(1L << 30, None))
    val txn = map.begin(VersionId.Empty)
    val hashed = FamilySpec("f", false, false, ordered = false, "row", "unsaferow", "all", 0, 0)
    txn.createFamily(hashed)
    val one = new Slice().set(Array[Byte](1))
    for (i <- 0 until Keys) txn.put(0, 0, new Slice().set(key(i)), one)
    val cursor = txn.scan(0)
    assert(Iterator.continually(cursor.next()).takeWhile(identity).size == Keys)
    for (i <- 0 until Keys by 97) assert(txn.get(0, 0, new Slice().set(key(i)), new Slice))
    assertSpread(map.hashKey, Keys, key)
    txn.release()
    map.close()
  }

  for ((what, key) <- plain) test(s"$what are spread over leaves of the usual size") {
    for (seed <- 1 to 10) {
      val chance = new Random(seed)
      assertSpread(new HashKey(chance.nextLong(), chance.nextLong()), PlainKeys, key)
    }
  }

  /** Those that agree in the upper bits share a leaf. */
  private def assertSpread(hash: HashKey, keys: Int, key: Int => Array[Byte]) = {
    val leaves = (0 until keys).map(i => hash.hash(new Slice().set(key(i))) >>> LeafBits)
    val largest = leaves.groupMapReduce(identity)(_ => 1)(_ + _).values.max
    assert(HashPages.slotsFor(largest) <= HashPages.LargestLeaf)
  }

  test("two maps hash otherwise, but for those whose accesses are checked") {
    val (a, b) = (HashKey.next(), HashKey.next())
    val keys = (0 until 8).map(i => new Slice().set(key(i)))
    assert((keys.map(a.hash) == keys.map(b.hash)) == Mem.Checks)
  }
}

private object CollidingKeysSuite {
  private val Bits = if (Mem.Checks) 16 else 20
  private val Keys = 1 << Bits
  private val PlainKeys = 1 << 16
  private val LeafBits = 12
  private val M = 0xc6a4a7935bd1e995L
  private val TopBit = 1L << 63

  /** Two words for each bit of `i`. The first word is one of two whose mixed values differ in the
    * top bit alone, which is what multiplication leaves of it; the second word's takes it away.
    */
  private def key(i: Int): Array[Byte] = {
    words((0 until Bits).flatMap { bit =>
      val flipped = if ((i >>> bit & 1) == 1) TopBit else 0L
      Seq(unmixed(mixed(2L * bit) ^ flipped), unmixed(mixed(2L * bit + 1) ^ flipped))
    })
  }

  /** What MurmurHash64A does to a word. */
  private def mixed(word: Long): Long = {
    val k = word * M
    (k ^ (k >>> 47)) * M
  }

  private def unmixed(mixed: Long): Long = {
    val k = mixed * inverse
    (k ^ (k >>> 47)) * inverse
  }

  /** Keys that are like those of queries, or regular in another way. */
  private val plain: Seq[(String, Int => Array[Byte])] = Seq(
    "keys with words that change their sign" -> { i =>
      words((0 until Bits).flatMap { bit =>
        val flipped = if ((i >>> bit & 1) == 1) -2L else 0L
        Seq(bit * M ^ flipped, bit * inverse ^ flipped)
      })
    },
    "numbers" -> (i => words(Seq(i.toLong))),
    "rows of a number" -> (i => words(Seq(0L, i.toLong))),
    "rows of two numbers" -> (i => words(Seq(0L, i.toLong & 255, i.toLong >> 8))),
    "multiples of a large number" -> (i => words(Seq(0L, i.toLong << 40))),
    "rows of a double" -> (i => words(Seq(0L, java.lang.Double.doubleToLongBits(i.toDouble)))),
    "texts" -> (i => s"user-$i".getBytes),
    "zeros of any length" -> (i => new Array[Byte](i % 5000) :+ (i / 5000).toByte)
  )

  private def words(its: Seq[Long]): Array[Byte] = {
    val bytes = ByteBuffer.allocate(its.size * 8).order(LITTLE_ENDIAN)
    its.foreach(bytes.putLong)
    bytes.array
  }

  /** Of M, modulo 2^64^: each step of Newton's doubles the bits that are right. */
  private val inverse = Iterator.iterate(M)(x => x * (2 - M * x)).drop(6).next()

  /** By Austin Appleby, of whole words. */
  private def murmur(bytes: Array[Byte], seed: Long): Long = {
    val words = ByteBuffer.wrap(bytes).order(LITTLE_ENDIAN).asLongBuffer
    var h = seed ^ (bytes.length * M)
    while (words.hasRemaining) h = (h ^ mixed(words.get())) * M
    h = (h ^ (h >>> 47)) * M
    h ^ (h >>> 47)
  }
}

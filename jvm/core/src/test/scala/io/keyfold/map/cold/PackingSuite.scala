package io.keyfold.map.cold

import io.keyfold.format.wire.ByteSink
import io.keyfold.mem.Slice
import org.scalatest.funsuite.AnyFunSuite

class PackingSuite extends AnyFunSuite {
  private def packed(bytes: Array[Byte]): Array[Byte] = {
    val sink = new ByteSink(1)
    Packing.pack(new Slice().set(bytes), sink)
    sink.array.take(sink.length)
  }

  test("bytes that are zero take no room, those behind the last word are as they are") {
    val bytes = Array[Byte](0, 0, 0, 0, 0, 0, 0, 0, 7, 0, 0, -1, 0, 0, 0, 0, 3, 0)
    // A word without content, one with its first and fourth byte, and two bytes.
    assert(packed(bytes).toSeq == Seq[Byte](0, 9, 7, -1, 3, 0))
  }

  test("what was packed is unpacked, skipped and compared, whatever it is") {
    val random = new scala.util.Random(1)
    for (length <- 0 to 200; zeros <- Seq(0, 50, 95)) {
      val bytes = Array.fill(length) {
        if (random.nextInt(100) < zeros) 0.toByte else random.nextInt().toByte
      }
      val content = Array[Byte](1, 2, 3) ++ packed(bytes) ++ Array[Byte](4)
      val end = content.length - 1
      val back = new Array[Byte](length)
      assert(Packing.unpack(content, 3, length, back) == end)
      assert(back.toSeq == bytes.toSeq)
      assert(Packing.skip(content, 3, length) == end)
      assert(Packing.isPacked(content, 3, new Slice().set(bytes)))
      for (i <- bytes.indices) {
        val other = bytes.clone()
        other(i) = (other(i) ^ 1 << random.nextInt(8)).toByte
        assert(!Packing.isPacked(content, 3, new Slice().set(other)))
      }
    }
  }
}

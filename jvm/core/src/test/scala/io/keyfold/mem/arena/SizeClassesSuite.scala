package io.keyfold.mem.arena

import io.keyfold.mem.page.PagePool
import org.scalatest.funsuite.AnyFunSuite

class SizeClassesSuite extends AnyFunSuite {
  test("every size has the least class that it fits into") {
    for (bytes <- 0 to SizeClasses.LargestBytes) {
      val c = SizeClasses.of(bytes)
      assert(SizeClasses.bytes(c) >= bytes)
      assert(c == 0 || SizeClasses.bytes(c - 1) < bytes)
    }
    assert(SizeClasses.of(SizeClasses.LargestBytes) == SizeClasses.Count - 1)
  }

  test("above 64 bytes, less than an eighth of an object is waste; below, less than 8 bytes") {
    for (bytes <- 1 to SizeClasses.LargestBytes) {
      val size = SizeClasses.bytes(SizeClasses.of(bytes))
      assert(size - bytes < math.max(8.0, size / 8.0), s"$bytes bytes in $size")
    }
  }

  test("sizes are multiples of 8") {
    for (c <- 0 until SizeClasses.Count) assert(SizeClasses.bytes(c) % 8 == 0)
  }

  test("at most an eighth of a slab is left over, and small objects need one page") {
    for (c <- 0 until SizeClasses.Count) {
      val slab = SizeClasses.slabPages(c) * PagePool.PageBytes
      val objects = SizeClasses.slabObjects(c) * SizeClasses.bytes(c)
      assert(objects <= slab && objects * 8 >= slab * 7, s"${SizeClasses.bytes(c)} bytes")
      assert(SizeClasses.slabPages(c) <= SizeClasses.MaxSlabPages)
      if (SizeClasses.bytes(c) <= 2048) assert(SizeClasses.slabPages(c) == 1)
    }
  }
}

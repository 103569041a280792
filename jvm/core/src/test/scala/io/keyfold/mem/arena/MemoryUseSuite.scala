package io.keyfold.mem.arena

import java.nio.file.Files

import io.keyfold.mem.page.{PagePool, SpillFiles}
import org.scalatest.funsuite.AnyFunSuite

class MemoryUseSuite extends AnyFunSuite {
  private val MiB = 1L << 20
  private val PageBytes = PagePool.PageBytes.toLong

  test("what an arena holds is told apart by where it is and whether an object is there") {
    val folder = Files.createTempDirectory("keyfold-spill")
    val pool = new PagePool(MiB, Some(new SpillFiles(folder)))
    val arena = new Arena(pool)
    assert(arena.memory == MemoryUse.None)
    val small = arena.allocate(56)
    assert(arena.memory == MemoryUse(PageBytes, 0, PageBytes - 56))
    val large = arena.allocate(63 * PageBytes.toInt)
    assert(arena.memory == MemoryUse(MiB, 0, PageBytes - 56))
    val spilled = Seq(5 * PageBytes.toInt, 100).map(arena.allocate)
    assert(arena.memory == MemoryUse(MiB, 6 * PageBytes, 2 * PageBytes - 56 - 104))
    assert(arena.memory.total == arena.pageBytes)
    arena.free(large)
    assert(arena.memory == MemoryUse(PageBytes, 6 * PageBytes, 2 * PageBytes - 56 - 104))
    spilled.foreach(arena.free)
    arena.free(small)
    assert(arena.memory == MemoryUse.None)
    arena.close()
    Files.delete(folder)
  }
}

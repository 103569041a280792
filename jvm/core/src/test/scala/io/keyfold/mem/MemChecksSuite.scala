package io.keyfold.mem

import java.nio.channels.FileChannel
import java.nio.channels.FileChannel.MapMode
import java.nio.file.Files
import java.nio.file.StandardOpenOption.{DELETE_ON_CLOSE, READ, WRITE}

import org.scalatest.BeforeAndAfterEach
import org.scalatest.funsuite.AnyFunSuite

/** What `-Dkeyfold.mem.checks=true` finds; the build sets it for all tests. */
class MemChecksSuite extends AnyFunSuite with BeforeAndAfterEach {
  private var address = 0L

  override def beforeEach(): Unit = {
    assert(Mem.Checks)
    address = Mem.allocate(64)
  }

  override def afterEach(): Unit = Mem.free(address)

  private def refused(access: => Any): String =
    intercept[IllegalStateException](access).getMessage

  private val array = new Array[Byte](64)

  private val accesses = Seq[(String, Int, (AnyRef, Long) => Any)](
    ("getByte", 1, Mem.getByte(_, _)),
    ("putByte", 1, Mem.putByte(_, _, 1)),
    ("getInt", 4, Mem.getInt(_, _)),
    ("putInt", 4, Mem.putInt(_, _, 1)),
    ("getLong", 8, Mem.getLong(_, _)),
    ("putLong", 8, Mem.putLong(_, _, 1L)),
    ("copy from", 9, (base, offset) => Mem.copy(base, offset, array, Mem.ArrayOffset, 9)),
    ("copy to", 9, (base, offset) => Mem.copy(array, Mem.ArrayOffset, base, offset, 9)),
    ("equal", 9, (base, offset) => Mem.equal(array, Mem.ArrayOffset, base, offset, 9)),
    ("compare", 9, (base, offset) => Mem.compare(array, Mem.ArrayOffset, 3, base, offset, 9)),
    ("hash", 9, (base, offset) => Mem.hash(base, offset, 9, 0L, 0L)),
    ("fill", 9, (base, offset) => if (base == null) Mem.fill(offset, 9, 1))
  )

  for ((name, bytes, access) <- accesses) {
    test(s"$name reaches the first and the last byte of an allocation and no other") {
      access(null, address)
      access(null, address + 64 - bytes)
      refused(access(null, address - 1))
      refused(access(null, address + 65 - bytes))
    }

    if (name != "fill")
      test(s"$name reaches the first and the last byte of an array and no other") {
        val other = new Array[Byte](64)
        access(other, Mem.ArrayOffset)
        access(other, Mem.ArrayOffset + 64 - bytes)
        refused(access(other, Mem.ArrayOffset - 1))
        refused(access(other, Mem.ArrayOffset + 65 - bytes))
      }
  }

  test("the error says address, length and the nearest allocation") {
    val message = refused(Mem.getLong(null, address + 60))
    assert(message.contains(f"8 bytes at 0x${address + 60}%x"))
    assert(message.contains(f"the nearest allocation is 0x$address%x to 0x${address + 64}%x"))
    assert(
      refused(Mem.getInt(array, Mem.ArrayOffset + 62)) ==
        "Invalid access to 4 bytes from 62 of an array of 64 bytes"
    )
  }

  test("freed memory is not accessible, and cannot be freed again") {
    val other = Mem.allocate(16)
    Mem.free(other)
    refused(Mem.getByte(null, other))
    assert(refused(Mem.free(other)).startsWith(f"Cannot free 0x$other%x"))
    refused(Mem.free(address + 8))
  }

  test("a negative length is refused, no bytes are welcome anywhere") {
    refused(Mem.hash(null, address, -1, 0L, 0L))
    refused(Mem.hash(array, Mem.ArrayOffset, -1, 0L, 0L))
    Mem.copy(null, 0, array, Mem.ArrayOffset + 64, 0)
  }

  test("a mapped file is memory until it is unmapped") {
    val file = Files.createTempFile("keyfold", ".map")
    Files.write(file, "twelve bytes".getBytes("US-ASCII"))
    val channel = FileChannel.open(file, READ, WRITE, DELETE_ON_CLOSE)
    val buffer =
      try channel.map(MapMode.READ_WRITE, 0, 12)
      finally channel.close()
    val start = Mem.addressOf(buffer)
    assert(Mem.getByte(null, start) == 't')
    Mem.putByte(null, start + 11, 'S')
    assert(buffer.get(11) == 'S')
    refused(Mem.getLong(null, start + 5))
    Mem.unmap(buffer)
    refused(Mem.getByte(null, start))
  }
}

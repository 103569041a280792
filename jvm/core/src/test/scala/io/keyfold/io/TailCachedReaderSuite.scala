package io.keyfold.io

import java.io.EOFException

import io.keyfold.testkit.{MemoryBlobStore, SeededChecks}
import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite

class TailCachedReaderSuite extends AnyFunSuite with SeededChecks {
  private def stored(length: Int) = {
    val store = new MemoryBlobStore
    store.put("file", Array.tabulate[Byte](length)(_.toByte))
    store
  }

  test("a file no longer than the tail is read whole by a single request") {
    for (length <- Seq(99, 100)) {
      val store = stored(length)
      val reader = new TailCachedReader(store.open("file"), tail = 100)
      assert(reader.length == length)
      assert(reader.read(0, length).toSeq == store.bytes("file").toSeq)
      assert(reader.read(98, 1).toSeq == Seq(98.toByte))
      assert(store.counts.reads == 1)
      assert(store.counts.readBytes == length)
    }
  }

  test("of a longer file the tail is fetched at once and served from memory") {
    val store = stored(120)
    val reader = new TailCachedReader(store.open("file"), tail = 100)
    assert(reader.read(20, 3).toSeq == Seq[Byte](20, 21, 22))
    assert(store.counts.reads == 1)
    assert(store.counts.readBytes == 100)
    assert(reader.read(119, 1).toSeq == Seq[Byte](119))
    assert(store.counts.reads == 1)
  }

  test("a range that begins before the tail is asked of the file") {
    val store = stored(120)
    val reader = new TailCachedReader(store.open("file"), tail = 100)
    assert(reader.read(19, 3).toSeq == Seq[Byte](19, 20, 21))
    assert(store.counts.reads == 1)
    assert(store.counts.readBytes == 3)
  }

  test("once the tail is there, of a range that begins before it only what lies before is asked") {
    val store = stored(120)
    val reader = new TailCachedReader(store.open("file"), tail = 100)
    reader.read(119, 1)
    assert(reader.read(15, 9).toSeq == (15 until 24).map(_.toByte))
    assert(store.counts.readBytes == 100 + 5)
  }

  test("any range is the file's, whatever the tail, and whether it was fetched before") {
    val cases = for {
      length <- Gen.choose(0, 200)
      tail <- Gen.choose(0, 250)
      a <- Gen.choose(0, length)
      b <- Gen.choose(0, length)
    } yield (length, tail, a min b, a max b)
    forEach(cases, 500) { case (length, tail, from, until) =>
      val reader = new TailCachedReader(stored(length).open("file"), tail)
      assert(reader.length == length)
      val expected = (from until until).map(_.toByte)
      assert(reader.read(from, until - from).toSeq == expected)
      if (length > 0) reader.read(length - 1, 1)
      assert(reader.read(from, until - from).toSeq == expected)
    }
  }

  test("a range past the end of the file is refused as the file itself would") {
    val reader = new TailCachedReader(stored(120).open("file"), tail = 100)
    intercept[EOFException](reader.read(110, 11))
    intercept[EOFException](reader.read(0, 121))
    intercept[EOFException](reader.read(121, 1))
  }

  test("a change of the bytes returned does not reach what is returned next") {
    val reader = new TailCachedReader(stored(10).open("file"), tail = 100)
    reader.read(0, 2)(0) = 77
    assert(reader.read(0, 2).toSeq == Seq[Byte](0, 1))
  }

  test("closing it closes the file") {
    var closed = 0
    val file = new BlobReader {
      override def length: Long = 0
      override def read(position: Long, count: Int): Array[Byte] = new Array[Byte](count)
      override def close(): Unit = closed += 1
    }
    new TailCachedReader(file).close()
    assert(closed == 1)
  }
}

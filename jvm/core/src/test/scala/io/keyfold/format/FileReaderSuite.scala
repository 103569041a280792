package io.keyfold.format

import java.io.{EOFException, FileNotFoundException, IOException}

import io.keyfold.errors.{CorruptFile, ForeignFile, StoreError, UnknownFormat}
import io.keyfold.format.Layout.EntryType
import io.keyfold.format.wire.Codec
import io.keyfold.io.{BlobReader, BlobStore}
import io.keyfold.model.{Family, FamilySpec, VersionId}
import io.keyfold.testkit.{
  Bytes,
  Entry,
  FileContents,
  ForwardingBlobReader,
  ForwardingBlobStore,
  MemoryBlobStore
}
import org.scalatest.funsuite.AnyFunSuite

class FileReaderSuite extends AnyFunSuite {
  private val path = "0/0/5.delta"

  /** A file of `count` blocks with a single entry each, whose value has `size` bytes. */
  private def fileOf(count: Int, size: Int): Array[Byte] = {
    val spec = FamilySpec("default", false, false, false, "row", "unsaferow", "all", 0, 0)
    FilePlan(
      FileKind.Delta,
      Codec.Plain,
      rowChecksums = false,
      blockTarget = 1,
      Identity(VersionId(5), 0, 0, "default", 1, count, 0, "test"),
      lineage = Nil,
      Seq(Family(spec, 0, 0, 0)),
      dropped = Nil,
      (0 until count).map { i =>
        FilePlan.Group(0, i, Seq(Entry(EntryType.Put, i, Bytes("00"), Seq(Bytes("07" * size)))))
      }
    ).write()
  }

  private def stored(bytes: Array[Byte]): MemoryBlobStore = {
    val blobs = new MemoryBlobStore
    blobs.put(path, bytes)
    blobs
  }

  private val small = fileOf(count = 3, size = 10)

  private def opening(bytes: Array[Byte]): FileReader = FileContents.open(stored(bytes), path)

  test("a small file is read by a single request") {
    val blobs = stored(small)
    FileContents.read(blobs, path)
    assert(blobs.counts.opens == 1)
    assert(blobs.counts.reads == 1)
    assert(blobs.counts.readBytes == small.length)
  }

  test("of a large file only header, end and the blocks asked for are read") {
    val blobs = stored(fileOf(count = 4, size = 100000))
    val file = FileContents.open(blobs, path)
    assert(blobs.counts.reads == 2)
    assert(blobs.counts.readBytes == 16 + 65536)
    blobs.counts.reset()
    assert(file.blocks(Seq(1)).head.size == 1)
    assert(blobs.counts.reads == 1)
    assert(blobs.counts.readBytes == file.footer.blocks(1).storedLength)
  }

  test("a file that is not there is reported as such") {
    intercept[FileNotFoundException](FileContents.open(new MemoryBlobStore, path))
  }

  test("a file with only one of the two magics is damaged, with neither it is another's") {
    val noHeader = small.updated(0, 0.toByte)
    val noTrailer = small.updated(small.length - 1, 0.toByte)
    intercept[CorruptFile](opening(noHeader))
    intercept[CorruptFile](opening(noTrailer))
    intercept[ForeignFile](opening(noHeader.updated(small.length - 1, 0.toByte)))
  }

  test("a file too short for header and trailer is damaged if it begins as ours do") {
    for (length <- 0 to 47) intercept[CorruptFile](opening(small.take(length)))
  }

  test("a file too short for header and trailer is another's if it begins otherwise") {
    for (length <- 1 to 47) intercept[ForeignFile](opening(Array.fill(length)(0x4c)))
    intercept[ForeignFile](opening("KFL".getBytes.toArray ++ Array.fill[Byte](30)(0)))
  }

  for {
    (where, at) <- Seq("header" -> 4, "trailer" -> (small.length - 14))
    wrong <- Seq(0, 2, 0x0101)
  } test(s"format version $wrong in the $where is refused by naming it and the one known") {
    val changed =
      small.updated(at, wrong.toByte).updated(at + 1, (wrong >> 8).toByte).updated(60, 99.toByte)
    val message = intercept[UnknownFormat](opening(changed)).getMessage
    assert(message.contains(s"version $wrong"))
    assert(message.contains("version 1"))
    assert(message.contains(path))
  }

  test("every refusal names the file") {
    val blobs = stored(small.updated(30, 99.toByte))
    val file = FileContents.open(blobs, path)
    assert(
      intercept[StoreError](file.blocks(Seq(0)).head).getMessage.contains(blobs.describe(path))
    )
  }

  /** Counts the readers that are open; reads of files fail with `failure`, if there is one. */
  private class Watched(inner: BlobStore, failure: Option[IOException])
      extends ForwardingBlobStore(inner) {
    var openReaders = 0

    override def open(path: String): BlobReader = {
      val reader = super.open(path)
      openReaders += 1
      new ForwardingBlobReader(reader) {
        override def read(position: Long, count: Int): Array[Byte] =
          failure.fold(super.read(position, count))(e => throw e)
        override def close(): Unit = {
          openReaders -= 1
          super.close()
        }
      }
    }
  }

  test("closing the reader closes the file, and a file that is refused is closed too") {
    val blobs = new Watched(stored(small), failure = None)
    val file = FileContents.open(blobs, path)
    assert(blobs.openReaders == 1)
    file.close()
    assert(blobs.openReaders == 0)
    val damaged = new Watched(stored(small.dropRight(1)), failure = None)
    intercept[CorruptFile](FileContents.open(damaged, path))
    assert(damaged.openReaders == 0)
  }

  test("a file that gets shorter after it was opened is damaged") {
    val blobs = new Watched(stored(small), Some(new EOFException("too short")))
    assert(intercept[CorruptFile](FileContents.open(blobs, path)).getMessage.contains(path))
    assert(blobs.openReaders == 0)
  }

  test("a failure to read is no damage, and names the file") {
    val blobs = new Watched(stored(small), Some(new IOException("unreachable")))
    assert(intercept[IOException](FileContents.open(blobs, path)).getMessage.contains(path))
    assert(blobs.openReaders == 0)
  }
}

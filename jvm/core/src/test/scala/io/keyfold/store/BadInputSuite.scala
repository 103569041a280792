package io.keyfold.store

import java.nio.charset.StandardCharsets.UTF_8

import io.keyfold.errors.{ForeignFile, LayoutMismatch, UnknownFormat, UnreadableVersion}
import io.keyfold.format.{FileKind, FileReader, Layout}
import io.keyfold.format.wire.Codec
import io.keyfold.model.{PartitionRule, StoreLocation, VersionId}
import io.keyfold.testkit.MemoryBlobStore
import org.scalatest.funsuite.AnyFunSuite

/** What a store says of files that are damaged, missing, misplaced or not its own. */
class BadInputSuite extends AnyFunSuite {
  import StoreFixture._

  /** Versions 1 to 5; a snapshot of 3 only. */
  private def fiveVersions(): StoreFixture = {
    val fixture = new StoreFixture
    val store = fixture.open()
    for (v <- 1 to 4) fixture.commit(store, v - 1L, s"k$v" -> v.toString)
    assert(store.snapshotIfDue().contains(VersionId(3)))
    fixture.commit(store, 4, "k5" -> "5")
    store.close()
    fixture
  }

  /** Versions 1 to 8; snapshots of 3 and 6. */
  private def eightVersions(): StoreFixture = {
    val fixture = new StoreFixture
    fixture.commitMaintained(8)
    assert(fixture.blobs.exists(fixture.path("3.snapshot")))
    assert(fixture.blobs.exists(fixture.path("6.snapshot")))
    fixture
  }

  private def flip(fixture: StoreFixture, file: String, at: Int => Int): Unit =
    fixture.blobs.update(fixture.path(file)) { bytes =>
      val i = at(bytes.length)
      bytes(i) = (bytes(i) ^ 0x10).toByte
      bytes
    }

  private def blockAt(fixture: StoreFixture, v: Long, kind: FileKind): Int = {
    val path = fixture.path(kind.nameOf(VersionId(v)))
    FileReader.open(fixture.blobs, path, VersionId(v), kind).footer.blocks.head.offset.toInt
  }

  test("a truncated delta is detected, and the error says what can still be read (fault 5)") {
    val fixture = fiveVersions()
    fixture.blobs.update(fixture.path("5.delta"))(_.dropRight(10))
    val head = intercept[UnreadableVersion](fixture.loaded(5))
    assert(head.condition == "KEYFOLD_VERSION_UNREADABLE")
    assert(head.getMessage.contains("operator 0 partition 1 store default version 5"))
    assert(head.getMessage.contains("5.delta"))
    assert(head.getMessage.contains("truncated"))
    assert(fixture.loaded(4) == expected(4))
  }

  test("an empty file is detected (fault 5)") {
    val fixture = fiveVersions()
    fixture.blobs.update(fixture.path("5.delta"))(_ => Array.emptyByteArray)
    assert(intercept[UnreadableVersion](fixture.loaded(5)).getMessage.contains("0 bytes"))
  }

  test("a flipped byte in a block of a delta is detected") {
    val fixture = fiveVersions()
    val offset = blockAt(fixture, 4, FileKind.Delta)
    flip(fixture, "4.delta", _ => offset + 2)
    val error = intercept[UnreadableVersion](fixture.loaded(5))
    assert(error.getMessage.contains("4.delta"))
    assert(error.getMessage.contains("block 0 has checksum"))
    assert(error.getMessage.contains("can be read is 3"))
    assert(fixture.loaded(3) == expected(3))
  }

  test("a flipped byte in the footer of a delta is detected") {
    val fixture = fiveVersions()
    flip(fixture, "4.delta", _ - Layout.TrailerLength - 5)
    val error = intercept[UnreadableVersion](fixture.loaded(5))
    assert(error.getMessage.contains("footer has checksum"))
  }

  test("a missing delta is named, with the newest version that can be read (fault 7)") {
    val fixture = eightVersions()
    fixture.blobs.delete(fixture.path("7.delta"))
    val error = intercept[UnreadableVersion](fixture.loaded(8))
    assert(error.getMessage.contains("operator 0 partition 1 store default version 8"))
    assert(error.getMessage.contains("7.delta"))
    assert(error.getMessage.contains("can be read is 6 (the state after batch 5)"))
    assert(fixture.loaded(6) == expected(6))
  }

  test("a missing snapshot: the older one and the deltas after it give the version (fault 8)") {
    val fixture = eightVersions()
    fixture.blobs.delete(fixture.path("6.snapshot"))
    val store = fixture.open()
    assert(rows(store.read(VersionId(8))) == expected(8))
    assert(store.counters.snapshotFallbacks.sum == 1)
  }

  for (
    (where, at) <- Seq[(String, Int => Int)](
      "a block" -> (_ => Layout.HeaderLength + 3),
      "the footer" -> (_ - Layout.TrailerLength - 5),
      "the trailer" -> (_ - 1),
      "the header" -> (_ => 5)
    )
  )
    test(s"a snapshot with a flipped byte in $where is passed over for an older one (fault 6)") {
      val fixture = eightVersions()
      flip(fixture, "6.snapshot", at)
      val store = fixture.open()
      assert(rows(store.read(VersionId(8))) == expected(8))
      assert(store.counters.snapshotFallbacks.sum == 1)
    }

  test("when every snapshot is bad, the deltas from the first one on give the version") {
    val fixture = eightVersions()
    fixture.blobs.delete(fixture.path("6.snapshot"))
    flip(fixture, "3.snapshot", _ => Layout.HeaderLength + 3)
    assert(fixture.loaded(8) == expected(8))
  }

  test("when the only snapshot is bad and its deltas are gone, the error says so") {
    val fixture = fiveVersions()
    flip(fixture, "3.snapshot", _ => Layout.HeaderLength + 3)
    for (v <- 1 to 3) fixture.blobs.delete(fixture.path(s"$v.delta"))
    val error = intercept[UnreadableVersion](fixture.loaded(5))
    assert(error.getMessage.contains("the snapshot of version 3 cannot be used"))
  }

  test("a damaged head whose version has a snapshot is read from the snapshot") {
    val fixture = fiveVersions()
    fixture.blobs.update(fixture.path("3.delta"))(_.dropRight(1))
    assert(fixture.loaded(3) == expected(3))
  }

  test("a format version that is not known is an error of its own, naming both") {
    val fixture = fiveVersions()
    fixture.blobs.update(fixture.path("5.delta")) { bytes =>
      bytes(4) = 9
      bytes(bytes.length - Layout.TrailerLength + Layout.TrailerCopyAt) = 9
      bytes
    }
    val error = intercept[UnknownFormat](fixture.loaded(5))
    assert(error.condition == "KEYFOLD_FORMAT_VERSION")
    assert(error.getMessage.contains("format version 9, this release reads version 1"))
  }

  test("a delta with another number of key groups does not belong to the version") {
    val fixture = fiveVersions()
    val other = new StoreFixture(settings = settings.copy(keyGroups = 96))
    other.commitVersions(5, other.settings)
    val delta = other.blobs.bytes(other.path("4.delta"))
    fixture.blobs.put(fixture.path("4.delta"), delta)
    val error = intercept[LayoutMismatch](fixture.loaded(5))
    assert(error.condition == "KEYFOLD_KEY_GROUPS_MISMATCH")
    assert(error.getMessage.contains("has 96 key groups, the head of the version has 48"))
  }

  test("a family without a partitioning rule takes rows of any hash") {
    val fixture = new StoreFixture
    val noRule = rowFamily.copy(partitionKey = PartitionRule.NoRule)
    val txn = fixture.open(family = noRule).begin(VersionId.Empty)
    txn.put(0, 2, slice("a"), slice("1"))
    txn.commit()
    val view = fixture.open(family = noRule).read(VersionId(1))
    assert(rows(view) == Map("a" -> "1"))
  }

  test("a file with a row of another partition is damaged, though its checksums are right") {
    val unchecked = settings.copy(partitions = 0, codec = Codec.Plain)
    val fixture = new StoreFixture(settings = unchecked)
    val txn = fixture.open().begin(VersionId.Empty)
    txn.put(0, 2, slice("a"), slice("1"))
    txn.commit()
    MoveRow.claimPartitions(fixture.blobs, fixture.path("1.delta"), Partitions)
    val error = intercept[UnreadableVersion](fixture.loaded(1))
    assert(error.getMessage.contains("hash 2, which does not belong to partition 1"))
  }

  test("a number of partitions that differs from the files' names an unfinished rescale") {
    val fixture = fiveVersions()
    val store = fixture.open(settings.copy(partitions = 8))
    val error = intercept[LayoutMismatch](store.begin(VersionId(5)))
    assert(error.condition == "KEYFOLD_PARTITIONS_MISMATCH")
    assert(error.getMessage.contains("written for 4 partitions, the query runs with 8"))
    assert(error.getMessage.contains("rescale"))
  }

  test("an unknown number of partitions, of the files or of the query, is not checked") {
    val fixture = fiveVersions()
    val reader = fixture.open(settings.copy(partitions = 0))
    assert(rows(reader.read(VersionId(5))) == expected(5))
    val unknown = new StoreFixture(settings = settings.copy(partitions = 0))
    unknown.commitVersions(2, unknown.settings)
    assert(rows(unknown.open(settings).read(VersionId(2))) == expected(2))
  }

  test("a file of another partition is not taken for this one's") {
    val fixture = fiveVersions()
    val elsewhere = StoreLocation(0, 2, StoreLocation.DefaultStore)
    for (path <- fixture.blobs.paths) {
      val name = path.substring(path.lastIndexOf('/'))
      fixture.blobs.put(elsewhere.folder + name, fixture.blobs.bytes(path))
    }
    val other = new StoreFixture(fixture.blobs, elsewhere)
    val error = intercept[UnreadableVersion](other.loaded(5))
    assert(error.getMessage.contains("belongs to operator 0 partition 1 store default"))
  }

  test("a file renamed to another version is not taken for it") {
    val fixture = fiveVersions()
    fixture.blobs.put(fixture.path("6.delta"), fixture.blobs.bytes(fixture.path("5.delta")))
    val error = intercept[UnreadableVersion](fixture.loaded(6))
    assert(error.getMessage.contains("it holds version 5, not 6"))
  }

  test("a checkpoint of RocksDB is recognised by its files' names") {
    for (ending <- Seq("zip", "changelog")) {
      val fixture = new StoreFixture
      fixture.blobs.put(fixture.path(s"3.$ending"), Array[Byte](1, 2, 3))
      val error = intercept[ForeignFile](fixture.loaded(3))
      assert(error.condition == "KEYFOLD_NOT_A_KEYFOLD_FILE")
      assert(error.getMessage.contains(s"3.$ending was not written by Keyfold"))
      assert(error.getMessage.contains("RocksDB"))
    }
  }

  test("a checkpoint of HDFSBacked is recognised by its files' bytes") {
    val fixture = new StoreFixture
    val delta = "LZ4Block".getBytes(UTF_8) ++ new Array[Byte](100)
    fixture.blobs.put(fixture.path("3.delta"), delta)
    val error = intercept[ForeignFile](fixture.loaded(3))
    assert(error.getMessage.contains("3.delta was not written by Keyfold"))
    assert(error.getMessage.contains("provider of a checkpoint cannot be changed by configuration"))
  }
}

/** Rewrites a file so that only a check of the rows themselves can find it wrong. */
private[store] object MoveRow {
  import java.nio.{ByteBuffer, ByteOrder}

  import io.keyfold.format.wire.{Checksum, Codec}

  /** Sets N in the identity of a file of store `default` without an id, and mends the checksum. */
  def claimPartitions(blobs: MemoryBlobStore, path: String, partitions: Int): Unit =
    blobs.update(path) { bytes =>
      val buffer = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN)
      val trailer = bytes.length - Layout.TrailerLength
      val footer = trailer - buffer.getInt(trailer + 8)
      require(bytes(trailer + 16) == Codec.Plain.code, "only a footer that is not compressed")
      // Section head 8; version 8, id 2, operator 8, partition 4, store 2 + 7.
      buffer.putInt(footer + 8 + 31, partitions)
      val checksumAt = trailer + Layout.TrailerChecksumAt
      buffer.putInt(checksumAt, Checksum.of(bytes, footer, checksumAt - footer))
      bytes
    }
}

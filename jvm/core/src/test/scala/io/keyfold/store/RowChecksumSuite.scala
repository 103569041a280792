package io.keyfold.store

import io.keyfold.errors.CorruptRow
import io.keyfold.format.{FileKind, FileReader}
import io.keyfold.mem.Mem
import io.keyfold.model.VersionId
import io.keyfold.store.file.RowChecksumSettings
import org.scalatest.funsuite.AnyFunSuite

/** Rows that carry a checksum in memory: damage done there is found, and never reaches a file. */
class RowChecksumSuite extends AnyFunSuite {
  import StoreFixture._

  private def checked(verifyEvery: Long) =
    settings.copy(rowChecksums = Some(RowChecksumSettings(verifyEvery)))

  /** Flips a bit of a row where the map keeps it. */
  private def damage(view: StoreView, key: String): Unit = {
    // Not by `get`, which may return a copy.
    val row = view.rows.values(0, hash(key), slice(key))
    assert(row.next())
    val value = row.value
    Mem.putInt(value.base, value.offset, Mem.getInt(value.base, value.offset) ^ 4)
  }

  private def openFile(fixture: StoreFixture, version: Long, kind: FileKind): FileReader = {
    val id = VersionId(version)
    FileReader.open(fixture.blobs, fixture.path(kind.nameOf(id)), id, kind)
  }

  test("rows and counts are those of a store without checksums; files carry them") {
    val fixture = new StoreFixture(settings = checked(1))
    fixture.commitMaintained(8)
    assert(fixture.loaded(8) == expected(8))
    for ((version, kind) <- Seq(8L -> FileKind.Delta, 6L -> FileKind.Snapshot)) {
      val file = openFile(fixture, version, kind)
      // Byte 7 of a file holds its flags.
      assert(fixture.blobs.bytes(fixture.path(kind.nameOf(VersionId(version))))(7) == 1)
      val rows = if (kind == FileKind.Snapshot) 1 to 6 else 1 to 8
      assert(file.footer.families.head.bytes == rows.map(v => s"k$v".length + 1).sum)
    }
    val store = fixture.open()
    val txn = store.begin(VersionId(8))
    assert(txn.families.head.bytes == 8 * 3 && txn.families.head.keys == 8)
    put(txn, "k1", "")
    assert(get(txn, "k1").contains("") && txn.families.head.bytes == 8 * 3 - 1)
  }

  test("the setting may be turned on and off over a checkpoint's life") {
    val fixture = new StoreFixture
    val on = checked(1)
    fixture.commitVersions(1)
    val first = fixture.open(on)
    fixture.commit(first, 1, "k2" -> "2")
    assert(rows(first.read(VersionId(2))) == expected(2))
    val second = fixture.open()
    fixture.commit(second, 2, "k3" -> "3")
    assert(rows(second.read(VersionId(3))) == expected(3))
  }

  test("a damaged row is found when it is read, and the next task has it whole again") {
    for (read <- Seq[StoreTxn => Any](get(_, "k1"), rows(_), txn => rows(txn.scan(0)))) {
      val fixture = new StoreFixture(settings = checked(1))
      fixture.commitVersions(2)
      val store = fixture.open()
      val txn = store.begin(VersionId(2))
      damage(txn, "k1")
      val error = intercept[CorruptRow](read(txn))
      assert(error.getMessage.contains("damaged in the executor's memory"))
      txn.abort()
      assert(rows(store.begin(VersionId(2))) == expected(2))
    }
  }

  test("a damaged row is not written: neither the commit nor the snapshot succeeds") {
    val fixture = new StoreFixture(settings = checked(0))
    fixture.commitVersions(3)
    val store = fixture.open()
    val txn = store.begin(VersionId(3))
    put(txn, "new", "value")
    damage(txn, "new")
    intercept[CorruptRow](txn.commit())
    txn.abort()
    assert(!fixture.blobs.paths.contains(fixture.path("4.delta")))

    val view = store.read(VersionId(3))
    damage(view, "k2")
    intercept[CorruptRow](store.snapshotIfDue())
    assert(!fixture.blobs.paths.contains(fixture.path("3.snapshot")))
    assert(fixture.loaded(3) == expected(3))
  }

  test("each of several values is found damaged by itself, and counted without its checksum") {
    val fixture = new StoreFixture(settings = checked(1), family = listFamily)
    val store = fixture.open()
    val txn = store.begin(VersionId.Empty)
    for (v <- Seq("1", "22", "333")) append(txn, "k", v)
    assert(txn.families.map(f => (f.bytes, f.keys)) == Seq((7L, 1L)))
    txn.commit()
    assert(openFile(fixture, 1, FileKind.Delta).footer.families.head.values == 3)
    assert(fixture.loadedLists(VersionId(1)) == Map("k" -> Vector("1", "22", "333")))

    val next = store.begin(VersionId(1))
    append(next, "k", "4444")
    val raw = next.rows.values(0, hash("k"), slice("k"))
    assert(raw.next() && raw.nextValue())
    Mem.putInt(raw.value.base, raw.value.offset, Mem.getInt(raw.value.base, raw.value.offset) ^ 4)
    val row = next.values(0, hash("k"), slice("k"))
    assert(row.next())
    intercept[CorruptRow](row.nextValue())
    next.abort()
  }

  test("a damaged value is not appended to the files") {
    val fixture = new StoreFixture(settings = checked(0), family = listFamily)
    val store = fixture.open()
    val txn = store.begin(VersionId.Empty)
    for (v <- Seq("1", "2", "3")) append(txn, "k", v)
    val raw = txn.rows.values(0, hash("k"), slice("k"))
    assert(raw.next() && raw.nextValue() && raw.nextValue())
    Mem.putInt(raw.value.base, raw.value.offset, Mem.getInt(raw.value.base, raw.value.offset) ^ 4)
    intercept[CorruptRow](txn.commit())
    txn.abort()
    assert(fixture.blobs.paths.isEmpty)
  }

  test("of the rows read, as many are verified as is set") {
    val fixture = new StoreFixture(settings = checked(3))
    fixture.commitVersions(1)
    val txn = fixture.open().begin(VersionId(1))
    damage(txn, "k1")
    assert(get(txn, "k1").nonEmpty)
    assert(get(txn, "k1").nonEmpty)
    intercept[CorruptRow](get(txn, "k1"))

    val never = fixture.open(checked(0)).begin(VersionId(1))
    damage(never, "k1")
    assert((1 to 10).forall(_ => get(never, "k1").nonEmpty))
  }
}

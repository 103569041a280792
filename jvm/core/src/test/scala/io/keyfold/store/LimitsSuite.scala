package io.keyfold.store

import io.keyfold.errors.Invalid
import io.keyfold.format.{FileKind, FileReader}
import io.keyfold.model.VersionId
import org.scalatest.funsuite.AnyFunSuite

/** What a file has no room for is refused before anything is written, and other people's files are
  * left alone.
  */
class LimitsSuite extends AnyFunSuite {
  import StoreFixture._

  for (
    (what, name) <- Seq(
      "of 70,000 bytes" -> "n" * 70000,
      "of 30,000 letters that take 90,000 bytes" -> "\u20ac" * 30000,
      "with half of a surrogate pair" -> "a\ud800"
    )
  ) test(s"a name of a column family $what is refused") {
    val txn = new StoreFixture().open().begin(VersionId.Empty)
    val error = intercept[Invalid](txn.createFamily(rowFamily.copy(name = name)))
    assert(error.condition == "KEYFOLD_INVALID_ARGUMENT")
    txn.commit()
    txn.release()
  }

  test("one column family more than a file has room for is refused, and the rest is written") {
    val fixture = new StoreFixture
    val txn = fixture.open().begin(VersionId.Empty)
    put(txn, "a", "1")
    // Past the transaction, which looks at all families for each new one.
    for (i <- 1 until 65535) txn.rows.createFamily(rowFamily.copy(name = s"f$i"))
    intercept[Invalid](txn.createFamily(rowFamily.copy(name = "last")))
    txn.commit()
    txn.release()
    val file =
      FileReader.open(fixture.blobs, fixture.path("1.delta"), VersionId(1), FileKind.Delta, 4096)
    try assert(file.footer.families.map(_.spec.name).distinct.length == 65535)
    finally file.close()
  }

  test("no version comes after the largest number") {
    val store = new StoreFixture().open()
    assert(
      intercept[Invalid](store.beginEmpty(VersionId(Long.MaxValue))).condition ==
        "KEYFOLD_INVALID_VERSION"
    )
    store.begin(VersionId.Empty).release()
  }

  for (name <- Seq("2_a\tb.delta", "2_\u0001.snapshot", "2_\n.ref", "0.delta", "0_mine.snapshot"))
    test(s"a file named ${name.map(c => if (c < ' ') '?' else c)} stays, and retention goes on") {
      assert(FileKind.parse(name).isEmpty)
      assert(
        leftAfter(name).filterNot(_ == name) == leftAfter("note.txt").filterNot(_ == "note.txt")
      )
      assert(leftAfter(name).contains(name))
    }

  /** Names of the files that are left of 30 versions, with one more file among them. */
  private def leftAfter(strange: String): Seq[String] = {
    val fixture = new StoreFixture
    val store = fixture.open()
    for (v <- 1 to 30) {
      if (v == 2) fixture.blobs.put(fixture.path(strange), Array[Byte](1))
      fixture.commit(store, v - 1L, s"k$v" -> v.toString)
      store.snapshotIfDue()
      store.cleanup()
    }
    store.close()
    fixture.blobs.paths.toSeq.map(_.drop(fixture.location.folder.length + 1)).sorted
  }
}

package io.keyfold.format

import io.keyfold.errors.StoreError
import io.keyfold.format.wire.Codec
import io.keyfold.testkit.{Bytes, FileContents, SeededChecks}
import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite

/** Damaged bytes are never taken for others than those that were written, and never fail otherwise
  * than by a [[io.keyfold.errors.StoreError]].
  */
class CorruptionSuite extends AnyFunSuite with SeededChecks with DamagedFiles {

  /** Fails unless the bytes are refused by a StoreError or read as `whole` was. */
  private def assertRefusedOrSame(bytes: Array[Byte], whole: FileContents, what: => String): Unit =
    if (readOrRefuse(bytes, what).exists(_ != whole)) fail(s"other contents after $what")

  for {
    codec <- Codec.all
    rowChecksums <- Seq(false, true)
    checked = if (rowChecksums) " and row checksums" else ""
    bytes = fileOf(codec, rowChecksums)
    flipped = (at: Int, bit: Int) => bytes.updated(at, (bytes(at) ^ 1 << bit).toByte)
  } {
    test(s"the file with codec ${codec.name}$checked that is damaged below can be read") {
      val whole = read(bytes)
      assert(whole.entries.length == 10)
      assert(whole.blocks.length == 4)
    }

    test(s"every flipped bit of a file with codec ${codec.name}$checked is noticed (fault 6)") {
      val whole = read(bytes)
      for (at <- bytes.indices; bit <- 0 to 7) {
        assertRefusedOrSame(flipped(at, bit), whole, s"a flip of bit $bit of byte $at")
      }
    }

    test(s"every cut of a file with codec ${codec.name}$checked is noticed (fault 5)") {
      for (length <- bytes.indices) intercept[StoreError](read(bytes.take(length)))
    }

    test(s"bytes overwritten in a file with codec ${codec.name}$checked are noticed") {
      val whole = read(bytes)
      val runs = for {
        at <- Gen.choose(0, bytes.length - 1)
        run <- Gen.oneOf(Bytes.gen(64), Gen.choose(1, 600).map(n => Bytes("00" * n)))
      } yield (at, run)
      forEach(runs, 1000) { case (at, run) =>
        val changed = bytes.patch(at, run.array, run.length).take(bytes.length)
        assertRefusedOrSame(changed, whole, s"an overwrite at $at of $run")
      }
    }

    test(
      s"bytes added to, taken from or moved in a file with codec ${codec.name}$checked are noticed"
    ) {
      val whole = read(bytes)
      val edits = for {
        at <- Gen.choose(0, bytes.length)
        removed <- Gen.choose(0, 300)
        added <- Bytes.gen(300)
      } yield (at, removed, added)
      forEach(edits, 500) { case (at, removed, added) =>
        val changed = bytes.patch(at, added.array, removed)
        assertRefusedOrSame(changed, whole, s"$removed bytes at $at replaced by $added")
      }
    }
  }

  test("the end of one file after the beginning of another of the same version is noticed") {
    val one = fileOf(Codec.Plain, rowChecksums = false)
    val other = fileOf(Codec.Plain, rowChecksums = false, value = "0807060504030201")
    assert(one.length == other.length)
    // At both ends their bytes are the same.
    val cuts = 17 to one.length - 9
    for (at <- cuts) {
      val spliced = one.take(at) ++ other.drop(at)
      if (Seq(one, other).forall(!_.sameElements(spliced))) {
        assert(readOrRefuse(spliced, s"a change of file at $at").isEmpty, s"at $at")
      }
    }
  }
}

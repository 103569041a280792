package io.keyfold.format

import io.keyfold.model.VersionId
import io.keyfold.testkit.SeededChecks
import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite

class FileKindSuite extends AnyFunSuite with SeededChecks {
  private val id = "8d1f0c4e-6d0b-4c7e-9a53-0d5c1f2ab712"

  private val names = Seq(
    "1.delta" -> (VersionId(1), FileKind.Delta),
    "31.ref" -> (VersionId(31), FileKind.Reference),
    "40.snapshot" -> (VersionId(40), FileKind.Snapshot),
    s"12_$id.delta" -> (VersionId(12, id), FileKind.Delta),
    s"12_$id.snapshot" -> (VersionId(12, id), FileKind.Snapshot),
    s"12_$id.ref" -> (VersionId(12, id), FileKind.Reference),
    s"12_$id.9.merged" -> (VersionId(12, id), FileKind.Merged(9)),
    "9223372036854775807.delta" -> (VersionId(Long.MaxValue), FileKind.Delta)
  )

  test("the name of a file is its version, its id if there is one, and its kind's ending") {
    for ((name, (version, kind)) <- names) assert(kind.nameOf(version) == name)
  }

  test("a name gives back its version, id and kind") {
    for ((name, parsed) <- names) assert(FileKind.parse(name).contains(parsed))
  }

  test("every version with any id that the format allows is found again in its name") {
    val ids = Gen.oneOf(
      Gen.const(""),
      Gen.uuid.map(_.toString),
      Gen.nonEmptyListOf(Gen.oneOf("a", "Z", "0", "-", "_", " ", "ß", "键")).map(_.mkString)
    )
    val versions = Gen.zip(Gen.choose(1L, Long.MaxValue), ids)
    forEach(Gen.zip(versions, Gen.oneOf(FileKind.Delta, FileKind.Snapshot, FileKind.Reference))) {
      case ((number, id), kind) =>
        val version = VersionId(number, id)
        assert(FileKind.parse(kind.nameOf(version)).contains((version, kind)))
    }
  }

  for {
    name <- Seq(
      "_metadata",
      "",
      "delta",
      "7",
      "7.",
      ".delta",
      "7.DELTA",
      "7.deltas",
      "7.zip",
      "7.changelog",
      "7.delta.crc",
      ".7.delta",
      ".7.delta.crc",
      ".7.delta.0a1b.tmp",
      "07.delta",
      "+7.delta",
      "-7.delta",
      " 7.delta",
      "7 .delta",
      "0x7.delta",
      "７.delta",
      "7_.delta",
      "7_a.b.delta",
      "7_a/b.delta",
      "3/7.delta",
      "7-a.delta",
      "7_a.merged",
      "7_a.5.delta",
      "7.5.merged",
      "7_a.7.merged",
      "7_a.0.merged",
      "7_a.05.merged",
      "7_a.-5.merged",
      "7_a.5.3.merged",
      "7_a.99999999999999999999.merged",
      "9223372036854775808.delta",
      "99999999999999999999999.delta"
    )
  } test(s"the name '$name' is not one of ours") {
    assert(FileKind.parse(name).isEmpty)
  }

  test("the codes of the kinds are those of the format") {
    val kinds = Seq(1, 2, 3, 5).map(code => FileKind.ofCode(code, base = 7))
    val expected = Seq(FileKind.Delta, FileKind.Snapshot, FileKind.Reference, FileKind.Merged(7))
    assert(kinds == expected.map(Some(_)))
    for (code <- Seq(0, 4, 6)) assert(FileKind.ofCode(code, base = 7).isEmpty)
  }
}

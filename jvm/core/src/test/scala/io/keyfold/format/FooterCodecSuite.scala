package io.keyfold.format

import java.util.HexFormat

import io.keyfold.errors.{CorruptFile, UnknownFormat}
import io.keyfold.format.wire.{ByteSink, ByteSource, Codec}
import io.keyfold.group.KeyGroups
import io.keyfold.model.{Family, FamilySpec, VersionId}
import io.keyfold.testkit.SeededChecks
import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite

class FooterCodecSuite extends AnyFunSuite with SeededChecks {
  private val genBlock: Gen[Block] = for {
    family <- Gen.choose(0, 2)
    codec <- Gen.oneOf(Codec.Plain, Codec.Zstandard, Codec.Lz4)
    offset <- Gen.choose(0L, Long.MaxValue)
    stored <- Gen.choose(0, Int.MaxValue)
    entries <- Gen.choose(1, 20)
    raw <- Gen.choose(8 + entries * 13, Int.MaxValue)
    checksum <- Gen.choose(Int.MinValue, Int.MaxValue)
  } yield Block(family, codec, offset, stored, raw, entries, checksum)

  /** Runs of entries that fill the blocks, some across blocks of one family. */
  private def genGroups(blocks: Seq[Block], keyGroups: Int): Gen[Seq[GroupRun]] = {
    val entries = for {
      (block, i) <- blocks.zipWithIndex
      entry <- 0 until block.entries
    } yield (block.family, i, entry)
    val places = Gen.listOfN(entries.length, Gen.frequency(1 -> true, 4 -> false))
    for {
      cuts <- places
      starts = entries.zip(cuts).zipWithIndex.collect {
        case ((place, cut), i) if i == 0 || cut || entries(i - 1)._1 != place._1 => (place, i)
      }
      ends = starts.map(_._2).drop(1) :+ entries.length
      groups <- Gen.listOfN(starts.length, Gen.choose(0, keyGroups - 1))
      bytes <- Gen.listOfN(starts.length, Gen.choose(0L, Layout.MaxAmount))
    } yield starts.indices.map { i =>
      val ((family, block, entry), start) = starts(i)
      GroupRun(family, groups(i), block, entry, ends(i) - start, bytes(i))
    }
  }

  private val genReference: Gen[FileReference] = for {
    folder <- Gen.oneOf(
      "state/0/0",
      "state/0/17",
      "state/9223372036854775807/2147483647/left-keyToNumValues"
    )
    version <- FilePlan.genVersion
    kind <- FilePlan.genKind(version)
    length <- Gen.choose(0L, Long.MaxValue)
  } yield FileReference(s"$folder/${kind.nameOf(version)}", kind, version, length)

  private val genPart: Gen[ManifestPart] = for {
    offset <- Gen.choose(0L, Long.MaxValue)
    codec <- Gen.oneOf(Codec.Plain, Codec.Zstandard, Codec.Lz4)
    stored <- Gen.choose(0, Int.MaxValue)
    raw <- Gen.choose(0, Int.MaxValue)
    checksum <- Gen.choose(Int.MinValue, Int.MaxValue)
  } yield ManifestPart(offset, codec, stored, raw, checksum)

  private val genFooter: Gen[Footer] = for {
    version <- FilePlan.genVersion
    keyGroups <- Gen.oneOf(Gen.choose(1, 100), Gen.choose(1, KeyGroups.Most))
    identity <- FilePlan.genIdentity(version, keyGroups)
    lineage <- Gen.listOf(FilePlan.genAncestor)
    families <- FilePlan.genFamilies(3)
    dropped <- Gen.listOf(FilePlan.genText)
    plan <- FilePlan.genText
    references <- Gen.option(Gen.nonEmptyListOf(genPart).map(References(plan, _)))
    blocks <- if (references.isEmpty) Gen.listOf(genBlock) else Gen.const(Nil)
    groups <- genGroups(blocks, keyGroups)
    head <- Gen.option(FilePlan.genFingerprint)
    base <- Gen.option(Gen.choose(1L, Long.MaxValue))
  } yield Footer(
    identity,
    lineage,
    families,
    dropped,
    blocks.toIndexedSeq,
    groups.toIndexedSeq,
    references,
    head,
    base = base
  )

  private val small = Footer(
    Identity(VersionId(1), 0, 0, "default", 1, 1, 0, ""),
    lineage = Nil,
    families = Nil,
    dropped = Nil,
    blocks = IndexedSeq(),
    groups = IndexedSeq(),
    references = None
  )

  private def encoded(footer: Footer): Array[Byte] = {
    val sink = FooterCodec.encode(footer)
    sink.array.take(sink.length)
  }

  private def decoded(bytes: Array[Byte], kind: FileKind = FileKind.Delta): Footer =
    FooterCodec.decode(bytes, "7.delta", kind)

  /** The sections of an encoded footer, each with its 8 bytes of code, flags and length. */
  private def sections(bytes: Array[Byte]): List[Array[Byte]] =
    if (bytes.isEmpty) Nil
    else {
      val length = bytes.slice(4, 8).zipWithIndex.map { case (b, i) => (b & 0xff) << (8 * i) }.sum
      val (section, rest) = bytes.splitAt(8 + length)
      section :: sections(rest)
    }

  private def section(code: Int, flags: Int, payload: String) =
    Array[Byte](code.toByte, (code >> 8).toByte, flags.toByte, 0, payload.length.toByte, 0, 0, 0) ++
      payload.getBytes("US-ASCII")

  test("any footer is decoded to what was encoded") {
    forEach(genFooter, 300)(footer => assert(decoded(encoded(footer)) == footer))
  }

  test("sections may come in any order") {
    val cases = for {
      footer <- genFooter
      order <- Gen.pick(10, 0 until 10)
    } yield (footer, order.toList)
    forEach(cases) { case (footer, order) =>
      val parts = sections(encoded(footer))
      val shuffled = order.filter(_ < parts.length).map(parts).toArray.flatten
      assert(decoded(shuffled) == footer)
    }
  }

  test("a footer has the bytes worked out by hand from the format") {
    val footer = Footer(
      Identity(
        VersionId(0x0102, "ä"),
        operator = 2,
        partition = 3,
        store = "s",
        partitions = 4,
        keyGroups = 8,
        createdMs = -1,
        writer = "w"
      ),
      Seq(Ancestor(VersionId(0x0101, "i"), FileKind.Snapshot)),
      Seq(
        Family(
          FamilySpec(
            "f",
            internal = true,
            multiValue = false,
            ordered = true,
            keyEncoding = "row",
            rowEncoding = "avro",
            partitionKey = "all",
            keySchemaId = 5,
            valueSchemaId = 6
          ),
          keys = 7,
          values = 8,
          bytes = 9
        )
      ),
      dropped = Seq("d"),
      blocks = IndexedSeq(Block(0, Codec.Lz4, 16, 10, 171, 12, 0xfffffffe)),
      groups = IndexedSeq(GroupRun(0, 7, 0, 0, 12, 13)),
      references = None
    )
    val bytes = Seq(
      "0100 0100 2e000000",
      "0201000000000000 0200c3a4 0200000000000000 03000000 010073",
      "04000000 08000000 ffffffffffffffff 010077",
      "0200 0100 10000000",
      "01000000 0101000000000000 02 010069",
      "0300 0100 38000000",
      "0100 0000 010066 05 0300726f77 04006176726f 0300616c6c 05000000 06000000",
      "0700000000000000 0800000000000000 0900000000000000",
      "0400 0100 05000000",
      "0100 010064",
      "0500 0100 1f000000",
      "01000000 0000 02 1000000000000000 0a000000 ab000000 0c000000 feffffff",
      "0600 0100 16000000",
      "01000000 0000 07000000 0c000000 0d00000000000000"
    ).mkString.replace(" ", "")
    assert(HexFormat.of.formatHex(encoded(footer)) == bytes)
    assert(decoded(HexFormat.of.parseHex(bytes)) == footer)
  }

  test("the parts of a reference have the bytes worked out by hand from the format") {
    val references = References("p", Seq(ManifestPart(16, Codec.Lz4, 10, 171, 0xfffffffe)))
    val footer = small.copy(references = Some(references))
    val bytes = Seq(
      "0700 0100 1c000000",
      "010070 01000000 1000000000000000 02 0a000000 ab000000 feffffff"
    ).mkString.replace(" ", "")
    assert(HexFormat.of.formatHex(sections(encoded(footer)).last) == bytes)
    assert(decoded(encoded(footer)) == footer)
  }

  private def encoded(file: FileReference): Array[Byte] = {
    val sink = new ByteSink
    FooterCodec.reference(sink, file)
    sink.array.take(sink.length)
  }

  private def decodedFile(bytes: Array[Byte]): FileReference =
    FooterCodec.reference(new ByteSource(bytes, 0, bytes.length, "a.manifest", "part"))

  test("any file in a manifest is decoded to what was encoded") {
    forEach(genReference, 100)(file => assert(decodedFile(encoded(file)) == file))
  }

  test("a file in a manifest has the bytes worked out by hand from the format") {
    val file = FileReference("state/0/1/14.delta", FileKind.Delta, VersionId(14), 15)
    val bytes =
      "1200 73746174652f302f312f31342e64656c7461 01 0e00000000000000 0000 0f00000000000000".replace(
        " ",
        ""
      )
    assert(HexFormat.of.formatHex(encoded(file)) == bytes)
  }

  test("the head of a snapshot has the bytes worked out by hand from the format") {
    val footer = small.copy(head = Some(Fingerprint(0x0102, 0x0a0b0c0d)))
    val bytes = "0800 0000 0c000000 0201000000000000 0d0c0b0a".replace(" ", "")
    assert(HexFormat.of.formatHex(sections(encoded(footer)).last) == bytes)
    assert(decoded(encoded(footer)) == footer)
  }

  private def assertRefused(footer: Footer, why: String): Unit = {
    val error = intercept[CorruptFile](decoded(encoded(footer)))
    assert(error.getMessage.contains(why))
    ()
  }

  private def assertRefused(file: FileReference, why: String): Unit = {
    val error = intercept[CorruptFile](decodedFile(encoded(file)))
    assert(error.getMessage.contains(why))
    ()
  }

  private def fileAt(path: String, id: String = "", kind: FileKind = FileKind.Delta) =
    FileReference(path, kind, VersionId(14, id), 15)

  private val badIds = Seq("../../x", "a/b", "a.b", "..", "a\u0000b", "\u001b[2J")

  test("an id that cannot be part of a file's name is refused, wherever it is") {
    for (id <- badIds) {
      val bad = VersionId(1, id)
      assertRefused(small.copy(identity = small.identity.copy(version = bad)), "version 1 with id")
      assertRefused(small.copy(lineage = Seq(Ancestor(bad, FileKind.Delta))), "version 1 with id")
      assertRefused(fileAt("state/0/1/14.delta", id), "version 14 with id")
    }
  }

  test("a version below 1 is refused, wherever it is") {
    for (number <- Seq(0L, -1L, Long.MinValue)) {
      val bad = VersionId(number)
      assertRefused(small.copy(identity = small.identity.copy(version = bad)), s"version $number")
      assertRefused(
        small.copy(lineage = Seq(Ancestor(bad, FileKind.Delta))),
        s"version $number"
      )
    }
  }

  test("a store's name that is no folder's is refused") {
    for (store <- Seq("", ".", "..", "../..", "a/b", "/tmp", "a\u0000b")) {
      assertRefused(small.copy(identity = small.identity.copy(store = store)), "store")
    }
  }

  test("a file in a manifest that is outside, or another than it says, is refused") {
    val outside = Seq(
      "state/../0/1/14.delta",
      "/state/0/1/14.delta",
      "state/0/../1/14.delta",
      "state/0/1/../14.delta"
    )
    val others =
      Seq(
        "14.delta",
        "0/1/14.delta",
        "state/0/1/x/y/14.delta",
        "state/0/1/15.delta",
        "state/0/1/14.snapshot",
        "state/x/1/14.delta"
      )
    for (path <- outside ++ others) assertRefused(fileAt(path), "is no path of 14.delta")
  }

  test("a reference in a manifest is refused") {
    assertRefused(fileAt("state/0/1/14.ref", kind = FileKind.Reference), "names a reference")
  }

  test("two families of one name are refused") {
    val spec = FamilySpec("f", false, false, false, "row", "unsaferow", "all", 0, 0)
    val family = Family(spec, 0, 0, 0)
    assertRefused(small.copy(families = Seq(family, family)), "two families have one name")
  }

  test("numbers of partitions and key groups that cannot be are refused") {
    val it = small.identity
    val wrong = Seq(
      it.copy(partition = -1),
      it.copy(partition = 1),
      it.copy(partitions = -1),
      it.copy(keyGroups = 0),
      it.copy(keyGroups = (1 << 20) + 1),
      it.copy(keyGroups = Int.MaxValue)
    )
    for (identity <- wrong)
      intercept[CorruptFile](decoded(encoded(small.copy(identity = identity))))
    assert(decoded(encoded(small.copy(identity = it.copy(keyGroups = 1 << 20)))).dropped == Nil)
  }

  test("rows and bytes that cannot be added up are refused") {
    val spec = FamilySpec("f", false, false, false, "row", "unsaferow", "all", 0, 0)
    for (n <- Seq(-2L, 1L << 47, Long.MaxValue, Long.MinValue)) {
      for (family <- Seq(Family(spec, n, 0, 0), Family(spec, 0, n, 0), Family(spec, 0, 0, n))) {
        assertRefused(small.copy(families = Seq(family)), s"a family has $n")
      }
    }
  }

  private def counted(blocks: Seq[Int], runs: Seq[Int], rawLength: Int = Int.MaxValue) = {
    val spec = FamilySpec("f", false, false, false, "row", "unsaferow", "all", 0, 0)
    small.copy(
      families = Seq(Family(spec, 0, 0, 0)),
      blocks = blocks.map(n => Block(0, Codec.Plain, 16, 0, rawLength, n, 0)).toIndexedSeq,
      groups = runs.map(n => GroupRun(0, 0, 0, 0, n, 0)).toIndexedSeq
    )
  }

  test("entries that are more than a block's bytes can be are refused") {
    for (entries <- Seq(2, 100, Int.MaxValue)) {
      assertRefused(counted(Seq(entries), Seq(entries), rawLength = 33), "of 33 bytes cannot have")
    }
    assert(decoded(encoded(counted(Seq(1), Seq(1), rawLength = 33))).blocks.length == 1)
  }

  test("counts of entries that only add up because they overflow are refused") {
    // 2 to the power of 32 and 1, in runs and in blocks that 13 bytes an entry have room for.
    val most = (Int.MaxValue - 8) / 13
    val blocks = Seq.fill(26)(most)
    assertRefused(counted(blocks, Seq(1)), "entries")
    assertRefused(counted(Seq(1), Seq(Int.MaxValue, Int.MaxValue, 3)), "more entries than")
    assertRefused(counted(Seq(5, 5), Seq(Int.MaxValue)), "more entries than")
  }

  test("an unknown section without the required flag is passed over, wherever it is") {
    val parts = sections(encoded(small))
    for (at <- 0 to parts.length) {
      val (before, after) = parts.splitAt(at)
      val bytes = (before ++ (section(900, flags = 0, "later") :: after)).toArray.flatten
      assert(decoded(bytes) == small)
    }
  }

  test("an unknown section with the required flag is of a later format version") {
    val bytes = encoded(small) ++ section(900, flags = 1, "later")
    val e = intercept[UnknownFormat](decoded(bytes))
    assert(e.getMessage.contains("7.delta"))
    assert(e.getMessage.contains("900"))
  }

  for (code <- Seq(1, 2, 3, 5, 6)) test(s"a footer without section $code is damaged") {
    val bytes = sections(encoded(small)).filter(_.head != code).toArray.flatten
    intercept[CorruptFile](decoded(bytes))
  }

  test("a footer without dropped families drops none, and is no delta's") {
    val without = sections(encoded(small)).filter(_.head != 4).toArray.flatten
    assert(decoded(without, FileKind.Snapshot) == small)
    intercept[CorruptFile](decoded(without, FileKind.Delta))
  }

  for (code <- 1 to 6) test(s"a footer with section $code twice is damaged") {
    val bytes = encoded(small)
    intercept[CorruptFile](decoded(bytes ++ sections(bytes).find(_.head == code).get))
  }

  for (code <- 1 to 6) test(s"a footer with a byte left over in section $code is damaged") {
    val bytes = sections(encoded(small)).toArray.flatMap { part =>
      if (part.head == code) {
        val longer = part :+ 0.toByte
        longer(4) = (longer(4) + 1).toByte
        longer
      } else part
    }
    intercept[CorruptFile](decoded(bytes))
  }

  test("every cut of a footer is noticed") {
    // All sections but 4, which is in every delta only, are there, and the last one is needed.
    val needed = genFooter.map(_.copy(references = None, head = None, base = None))
    forEach(needed, 20) { footer =>
      val bytes = encoded(footer)
      for (length <- bytes.indices) intercept[CorruptFile](decoded(bytes.take(length)))
    }
  }

  private val oneBlock = small.copy(
    families = Seq(
      Family(FamilySpec("a", false, false, false, "row", "unsaferow", "all", 0, 0), 0, 0, 0),
      Family(FamilySpec("b", false, false, false, "row", "unsaferow", "all", 0, 0), 0, 0, 0)
    ),
    blocks = IndexedSeq(Block(1, Codec.Plain, 16, 100, 100, 3, 0)),
    groups = IndexedSeq(GroupRun(1, 0, 0, 0, 3, 60))
  )

  test("a footer with one block and one group is taken") {
    assert(decoded(encoded(oneBlock)) == oneBlock)
  }

  private def group(change: GroupRun => GroupRun): Footer =
    oneBlock.copy(groups = oneBlock.groups.map(change))

  for {
    (what, footer) <- Seq(
      "no key group" -> oneBlock.copy(identity = small.identity.copy(keyGroups = 0)),
      "a negative number of key groups" -> oneBlock.copy(
        identity = small.identity.copy(keyGroups = -1)
      ),
      "a negative number of partitions" -> oneBlock.copy(
        identity = small.identity.copy(partitions = -1)
      ),
      "a block of a family that is not listed" -> oneBlock.copy(
        blocks = oneBlock.blocks.map(_.copy(family = 2))
      ),
      "a group of another family than its block" -> group(_.copy(family = 0)),
      "a group number that is not below G" -> group(_.copy(group = 1)),
      "a negative group number" -> group(_.copy(group = -1)),
      "a group that leaves entries to no group" -> group(_.copy(entries = 2)),
      "a group that runs past the last block" -> group(_.copy(entries = 4)),
      "a group of more entries than a number can count" -> group(_.copy(entries = -1)),
      "a group of 2147483647 entries after another" -> oneBlock.copy(groups =
        oneBlock.groups.map(_.copy(entries = 1)) :+ GroupRun(1, 0, 0, 1, Int.MaxValue, 0)
      ),
      "a group without entries" -> oneBlock.copy(
        groups = oneBlock.groups :+ GroupRun(1, 0, 0, 0, 0, 0)
      ),
      "a group that runs on into a block of another family" -> oneBlock.copy(
        blocks = oneBlock.blocks :+ Block(0, Codec.Plain, 116, 100, 100, 3, 0),
        groups = IndexedSeq(GroupRun(1, 0, 0, 0, 6, 120))
      ),
      "a block that is in no group" -> oneBlock.copy(
        blocks = oneBlock.blocks :+ Block(1, Codec.Plain, 116, 100, 100, 3, 0)
      ),
      "a block without entries" -> oneBlock.copy(
        blocks = Block(1, Codec.Plain, 16, 8, 8, 0, 0) +: oneBlock.blocks
      ),
      "no block but a group" -> oneBlock.copy(blocks = IndexedSeq()),
      "only a block without entries" -> oneBlock.copy(
        blocks = oneBlock.blocks.map(_.copy(entries = 0)),
        groups = IndexedSeq()
      )
    )
  } test(s"a footer with $what is damaged") {
    intercept[CorruptFile](decoded(encoded(footer)))
  }

  test("a footer with a reserved flag of a section or a family is damaged") {
    val parts = sections(encoded(oneBlock))
    for (section <- parts.indices; flags <- Seq(Seq(3, 0), Seq(1, 128))) {
      val changed = parts(section).patch(2, flags.map(_.toByte), 2)
      intercept[CorruptFile](decoded(parts.updated(section, changed).toArray.flatten))
    }
    // Behind the section's head, the count, and id and name of the first family.
    val flagsAt = 8 + 2 + 2 + 3
    assert(parts(2)(flagsAt) == 0)
    val changed = parts(2).updated(flagsAt, 32.toByte)
    intercept[CorruptFile](decoded(parts.updated(2, changed).toArray.flatten))
  }
}

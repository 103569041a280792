package io.keyfold.format

import java.nio.{ByteBuffer, ByteOrder}

import io.keyfold.format.Layout.EntryType
import io.keyfold.format.wire.Codec
import io.keyfold.model.{Family, FamilySpec, VersionId}
import io.keyfold.testkit.{Bytes, Entry, FileContents, MemoryBlobStore, SeededChecks}
import org.scalacheck.Shrink
import org.scalatest.funsuite.AnyFunSuite

class FileRoundTripSuite extends AnyFunSuite with SeededChecks {
  private val fewerGroups: Shrink[FilePlan] = Shrink { plan =>
    Shrink.shrink(plan.groups.toList).map(groups => plan.copy(groups = groups))
  }

  private def read(plan: FilePlan): FileContents = read(plan.name, plan.write())

  private def read(name: String, bytes: Array[Byte]): FileContents = {
    val blobs = new MemoryBlobStore
    blobs.put(name, bytes)
    FileContents.read(blobs, name)
  }

  /** Index of the first entry of each element among all entries, and the number of all at the end.
    */
  private def starts(lengths: Seq[Int]): Seq[Int] = lengths.scanLeft(0)(_ + _)

  test("entries are read back as they were written") {
    forEach(FilePlan.gen, 200, fewerGroups) { plan =>
      assert(read(plan).entries == plan.groups.flatMap(_.entries))
    }
  }

  test("the footer is read back as it was given") {
    forEach(FilePlan.gen, 100, fewerGroups) { plan =>
      val contents = read(plan)
      assert(contents.kind == plan.kind)
      assert(contents.footer.identity == plan.identity)
      assert(contents.footer.lineage == plan.lineage)
      assert(contents.footer.families == plan.families)
      assert(contents.footer.dropped == plan.dropped)
      assert(contents.footer.references.isEmpty)
    }
  }

  test("the group index tells where each group with entries begins and how much it holds") {
    forEach(FilePlan.gen, 200, fewerGroups) { plan =>
      val contents = read(plan)
      val written = plan.groupsWithEntries
      val blockStarts = starts(contents.blocks.map(_.length))
      val expected = written.zip(starts(written.map(_.entries.length))).map { case (g, start) =>
        val block = blockStarts.lastIndexWhere(_ <= start)
        val bytes = g.entries.map(FilePlan.rowBytes).sum.toLong
        GroupRun(g.family, g.group, block, start - blockStarts(block), g.entries.length, bytes)
      }
      assert(contents.footer.groups == expected)
    }
  }

  test("blocks lie back to back between header and footer and hold one family each") {
    forEach(FilePlan.gen, 200, fewerGroups) { plan =>
      val contents = read(plan)
      val blocks = contents.footer.blocks
      val bytes = ByteBuffer.wrap(plan.write()).order(ByteOrder.LITTLE_ENDIAN)
      val footerAt = bytes.capacity - 32L - bytes.getInt(bytes.capacity - 32 + 8)
      assert(blocks.map(_.offset) :+ footerAt == blocks.scanLeft(16L)(_ + _.storedLength))
      val familyOfEntry = plan.groups.flatMap(g => g.entries.map(_ => g.family))
      assert(blocks.flatMap(b => Seq.fill(b.entries)(b.family)) == familyOfEntry)
      assert(blocks.map(_.rawLength) == contents.blocks.map(8 + _.map(plan.rawBytes).sum))
      assert(blocks.forall(_.codec == plan.codec))
    }
  }

  test("blocks are cut between groups when they have reached the target, and not before") {
    forEach(FilePlan.gen, 200, fewerGroups) { plan =>
      val contents = read(plan)
      val groupStarts = starts(plan.groupsWithEntries.map(_.entries.length)).toSet
      for ((start, block) <- starts(contents.blocks.map(_.length)).zip(contents.blocks)) {
        val end = start + block.length
        for (cut <- start + 1 until end if groupStarts(cut)) {
          assert(8 + block.take(cut - start).map(plan.rawBytes).sum < plan.blockTarget)
        }
      }
      val consecutive = contents.footer.blocks.zip(contents.footer.blocks.drop(1))
      for ((block, next) <- consecutive if next.family == block.family) {
        assert(block.rawLength >= plan.blockTarget)
      }
    }
  }

  test("blocks are cut inside a group only when they hold a target's worth of it alone") {
    forEach(FilePlan.gen, 200, fewerGroups) { plan =>
      val written = plan.groupsWithEntries
      val groupStarts = starts(written.map(_.entries.length))
      val blocks = read(plan).blocks
      for ((start, block) <- starts(blocks.map(_.length)).zip(blocks)) {
        val end = start + block.length
        if (!groupStarts.contains(end)) {
          val ofGroup = block.drop(groupStarts.filter(_ < end).last - start)
          assert(ofGroup.map(plan.rawBytes).sum >= plan.blockTarget)
        }
      }
    }
  }

  test("a group goes on in the next block when a block holds a target's worth of it") {
    forEach(FilePlan.gen, 200, fewerGroups) { plan =>
      for (block <- read(plan).blocks; g <- plan.groupsWithEntries) {
        val part = block.filter(g.entries.contains)
        assert(part.dropRight(1).map(plan.rawBytes).sum < plan.blockTarget)
      }
    }
  }

  /** Entries of 37 raw bytes: 17 in the columns, 8 of key and 12 of value. */
  private def entriesOf37(group: Int, count: Int): FilePlan.Group =
    FilePlan.Group(
      0,
      group,
      (0 until count).map { i =>
        Entry(EntryType.Put, group, Bytes(f"$group%08x$i%08x"), Seq(Bytes("00" * 12)))
      }
    )

  private def planOf(groups: FilePlan.Group*) = FilePlan(
    FileKind.Delta,
    Codec.Plain,
    rowChecksums = false,
    blockTarget = 100,
    Identity(VersionId(3), 0, 0, "default", 1, 4, 0, "test"),
    lineage = Nil,
    families = Seq(
      Family(
        FamilySpec("default", false, false, false, "row", "unsaferow", "all", 0, 0),
        0,
        0,
        0
      )
    ),
    dropped = Nil,
    groups = groups
  )

  test("the blocks of a file worked out by hand have the entries they must have") {
    // 3 entries make 119 raw bytes, the first number to reach 100.
    val plan = planOf(entriesOf37(0, 10), entriesOf37(2, 1), entriesOf37(1, 3), entriesOf37(3, 1))
    val contents = read(plan)
    assert(contents.blocks.map(_.length) == Seq(3, 3, 3, 5, 1))
    assert(
      contents.footer.groups == Seq(
        GroupRun(0, 0, 0, 0, 10, 200),
        GroupRun(0, 2, 3, 1, 1, 20),
        GroupRun(0, 1, 3, 2, 3, 60),
        GroupRun(0, 3, 4, 0, 1, 20)
      )
    )
    assert(contents.footer.blocks.map(_.rawLength) == Seq(119, 119, 119, 193, 45))
    assert(contents.footer.blocks.map(_.offset) == Seq(16, 135, 254, 373, 566))
  }

  test("a file without entries has no blocks and no groups") {
    val contents = read(planOf(FilePlan.Group(0, 1, Nil)))
    assert(contents.blocks.isEmpty)
    assert(contents.footer.groups.isEmpty)
  }

  test("the target is 64 KiB of raw bytes unless something else is asked for") {
    assert(Layout.BlockTarget == 65536)
  }

  test("header and trailer have the bytes that the format says") {
    for (
      (rowChecksums, flags) <- Seq(false -> 0, true -> 1);
      kind <- Seq(FileKind.Delta, FileKind.Snapshot)
    ) {
      val bytes = planOf(entriesOf37(0, 1)).copy(kind = kind, rowChecksums = rowChecksums).write()
      val header =
        Seq[Byte](0x4b, 0x46, 0x4c, 0x44, 1, 0, kind.code.toByte, flags.toByte, 0, 0, 0, 0)
      assert(bytes.take(12).toSeq == header)
      val trailer = ByteBuffer.wrap(bytes.takeRight(32)).order(ByteOrder.LITTLE_ENDIAN)
      assert(trailer.getLong(0) == bytes.length)
      val blockLength = if (rowChecksums) 49 else 45
      assert(trailer.getInt(8) == bytes.length - 16 - blockLength - 32)
      assert(trailer.getInt(12) == trailer.getInt(8))
      assert(Seq(16, 17).map(trailer.get(_).toInt) == Seq(0, 0))
      assert(trailer.getShort(18) == 1)
      assert(Seq(20, 21).map(trailer.get(_).toInt) == Seq(kind.code, flags))
      assert(trailer.getShort(22) == 0)
      assert(bytes.takeRight(4).toSeq == Seq[Byte](0x44, 0x4c, 0x46, 0x4b))
    }
  }

  test("row checksums take 4 bytes more for each entry") {
    val plan = planOf(entriesOf37(0, 2))
    assert(plan.copy(rowChecksums = true).write().length == plan.write().length + 8)
  }
}

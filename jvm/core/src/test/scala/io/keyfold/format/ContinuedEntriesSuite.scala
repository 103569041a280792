package io.keyfold.format

import io.keyfold.format.Layout.EntryType
import io.keyfold.model.VersionId
import io.keyfold.store.StoreFixture
import io.keyfold.testkit.{Entry, FileContents, MemoryBlobStore, SeededChecks}
import org.scalacheck.{Gen, Shrink}
import org.scalatest.funsuite.AnyFunSuite

/** Rows whose values take more than one entry: docs/FORMAT.md, section 3.3. */
class ContinuedEntriesSuite extends AnyFunSuite with SeededChecks {

  private val plans = for {
    plan <- FilePlan.gen
    target <- Gen.oneOf(1, 30, 60, 120)
  } yield plan.copy(entryTarget = target)

  test("values past the target go into entries that continue their row's") {
    forEach(plans, 300, Shrink.shrinkAny[FilePlan]) { plan =>
      val contents = read(plan)
      val written = plan.groups.flatMap(_.entries)
      val parts = written.map(partsOf(plan, _))
      assert(contents.entries == parts.flatten)
      assert(contents.footer.continued == parts.flatten.length - written.length)
      val entries = plan.groupsWithEntries.map(_.entries.map(partsOf(plan, _)).flatten)
      assert(contents.footer.groups.map(_.entries) == entries.map(_.length))
      assert(
        contents.footer.groups.map(_.bytes) == entries.map(_.map(FilePlan.rowBytes).sum.toLong)
      )
    }
  }

  test("each block can be read alone, also one that begins with more values of a list") {
    var continuing = 0
    forEach(plans, 300, Shrink.shrinkAny[FilePlan]) { plan =>
      val blobs = new MemoryBlobStore
      blobs.put(plan.name, plan.write())
      for (i <- FileContents.open(blobs, plan.name).footer.blocks.indices) {
        val block = FileContents.open(blobs, plan.name).blocks(Seq(i)).head
        if (plan.kind == FileKind.Snapshot && block.entryType(0) == EntryType.Append)
          continuing += 1
      }
    }
    assert(continuing > 0)
  }

  /** The entries of a row: each takes values until it has reached the target. */
  private def partsOf(plan: FilePlan, row: Entry): Seq[Entry] = {
    val count = (1 to row.values.length)
      .find(n => plan.rawBytes(row.copy(values = row.values.take(n))) >= plan.entryTarget)
      .getOrElse(row.values.length)
    val (values, more) = row.values.splitAt(count)
    val first = row.copy(values = values)
    if (more.isEmpty) Seq(first)
    else first +: partsOf(plan, row.copy(entryType = EntryType.Append, values = more))
  }

  private def read(plan: FilePlan) = {
    val blobs = new MemoryBlobStore
    blobs.put(plan.name, plan.write())
    FileContents.read(blobs, plan.name)
  }

  for (kind <- Seq(FileKind.Delta, FileKind.Snapshot))
    test(s"a list of 40 MiB is in blocks of a few MiB, and read back, from a ${kind.ending}") {
      val fixture = new StoreFixture(family = StoreFixture.listFamily)
      val value = "v" * (1 << 20)
      val values = Vector.tabulate(40)(i => s"$i $value")
      val store = fixture.open()
      if (kind == FileKind.Delta) {
        val txn = store.begin(VersionId.Empty)
        values.foreach(StoreFixture.append(txn, "list", _))
        StoreFixture.put(txn, "other", "1")
        txn.commit()
      } else {
        for ((batch, i) <- values.grouped(10).zipWithIndex) {
          val txn = store.begin(VersionId(i.toLong))
          batch.foreach(StoreFixture.append(txn, "list", _))
          StoreFixture.put(txn, s"other $i", "1")
          txn.commit()
          store.snapshotIfDue()
        }
      }
      store.close()
      val version = if (kind == FileKind.Delta) 1L else fixture.snapshots.last.version
      val path = fixture.path(kind.nameOf(VersionId(version)))
      val footer = FileContents.open(fixture.blobs, path).footer
      assert(footer.continued >= 30 / 5)
      assert(footer.blocks.forall(_.rawLength < 6 * (1 << 20)))
      if (kind == FileKind.Snapshot) fixture.blobs.delete(fixture.path("1.delta"))
      val expected = if (kind == FileKind.Delta) values else values.take(version.toInt * 10)
      assert(fixture.loadedLists(VersionId(version))("list") == expected)
    }
}

package io.keyfold.rescale

import io.keyfold.errors.{
  CorruptFile,
  MisplacedRow,
  MissingFile,
  RescaleRefused,
  StoreError,
  UnreadableVersion
}
import io.keyfold.format.{Manifest, PlanName, RescalePlan}
import io.keyfold.mem.Slice
import io.keyfold.store.{StoreFixture, StoreTxn}
import io.keyfold.store.file.RowChecksumSettings
import io.keyfold.testkit.FileContents
import org.scalatest.funsuite.AnyFunSuite

/** Single cases of what a rescale writes, reads and deletes. */
class RescaleSuite extends AnyFunSuite {
  import RescaledOperator._

  private val names = (1 to 40).map(n => s"k$n")
  private def puts(value: String): Seq[Change] = names.map(Put("default", _, value))

  private def operator(
      partitions: Int = 4,
      ids: Boolean = true,
      family: String = "all",
      groups: Int = 48
  ): RescaledOperator = {
    val spec = StoreFixture.listFamily.copy(partitionKey = family)
    new RescaledOperator(partitions, groups, ids, Seq(spec))
  }

  private def plans(operator: RescaledOperator) =
    operator.blobs.list(PlanName.Folder).flatMap(PlanName.parse)

  private def references(operator: RescaledOperator) =
    operator.blobs.paths.filter(_.endsWith(".ref"))

  /** Batches, with maintenance in some partitions. */
  private def go(operator: RescaledOperator, batches: Int, of: Int => Boolean = _ => true): Unit =
    for (_ <- 1 to batches) {
      operator.batch(puts("later"))
      operator.maintain(of)
      operator.check()
    }

  test("a plan without snapshots reads one footer for each old partition, and no block") {
    val it = operator()
    it.batch((1 to 4000).map(n => Put("default", s"key $n", util.Random.nextString(100))))
    it.batch(puts("1"))
    it.maintain()
    it.restart()
    it.blobs.counts.reset()
    val plan = it.plan(to = 8)
    assert(it.blobs.counts.opens == 4)
    assert(it.blobs.counts.lists == 4)
    assert(it.blobs.counts.exists == 0 && it.blobs.counts.writes == 0)
    // A footer is fetched with the 64 KiB that it ends.
    assert(it.blobs.counts.readBytes <= 4 * (64 * 1024 + 64))
    assert(plan.referencedBytes > 4 * 64 * 1024 * 2)
  }

  /** Versions 1 to 4, with snapshots of 2 and 3. */
  private def withSnapshots(ids: Boolean): RescaledOperator = {
    val it = operator(ids = ids)
    for (v <- 1 to 4) {
      it.batch(puts(v.toString))
      if (v == 2 || v == 3) it.snapshot(v.toLong)
    }
    it.restart()
    it
  }

  private def snapshots(it: RescaledOperator, version: Int) =
    it.blobs.paths.filter(p => p.matches(s".*/$version(_.*)?[.]snapshot"))

  for (ids <- Seq(true, false)) {
    val withIds = if (ids) "with ids" else "without ids"

    test(s"a plan opens the snapshot that it names, $withIds") {
      val it = withSnapshots(ids)
      it.blobs.counts.reset()
      val plan = it.plan(to = 8)
      assert(
        plan.layers.flatMap(_.members).flatMap(_.files.map(_.version.version)).toSet == Set(3L, 4L)
      )
      // Without ids also the head of the snapshot's version.
      assert(it.blobs.counts.opens == 4 * (if (ids) 2 else 3))
    }

    test(s"a snapshot that cannot be used is not named: older files give the same, $withIds") {
      val damages = Seq[(String, (RescaledOperator, String) => Unit)](
        "empty" -> ((it, path) => it.blobs.put(path, Array.emptyByteArray)),
        "cut" -> ((it, path) => it.blobs.update(path)(_.dropRight(1))),
        "of another partition" -> { (it, path) =>
          val other = snapshots(it, 3).find(_ != path).get
          it.blobs.put(path, it.blobs.bytes(other))
        },
        "of another version" -> { (it, path) =>
          it.blobs.put(path, it.blobs.bytes(snapshots(it, 2).head))
        }
      )
      for ((name, damage) <- damages) {
        val it = withSnapshots(ids)
        snapshots(it, 3).foreach(damage(it, _))
        it.rescale(6)
        withClue(s"$name: ")(it.check())
      }
    }

    test(s"a snapshot that cannot be used and that nothing stands in for is named, $withIds") {
      val it = withSnapshots(ids)
      it.blobs.paths.filter(_.matches(".*/[123](_.*)?[.]delta")).foreach(it.blobs.remove)
      snapshots(it, 3).foreach(it.blobs.update(_)(_.dropRight(1)))
      val error = intercept[CorruptFile](it.plan(to = 6))
      assert(snapshots(it, 3).exists(error.getMessage.contains))
    }
  }

  test("a snapshot from before a rollback is not named: its version was made again") {
    val it = withSnapshots(ids = false)
    val old = snapshots(it, 3).map(path => path -> it.blobs.bytes(path))
    it.version = 2
    it.batch(puts("other"))
    it.batch(Seq(Put("default", "k1", "last")))
    it.restart()
    old.foreach { case (path, bytes) => it.blobs.put(path, bytes) }
    it.rescale(6)
    it.check()
  }

  test("a damaged snapshot of the rescale's own version gives way to its reference") {
    val it = operator()
    it.batch(puts("1"))
    it.rescale(8)
    it.snapshot(it.version)
    it.batch(puts("2"))
    it.restart()
    snapshots(it, 2).foreach(it.blobs.update(_)(_.dropRight(1)))
    it.rescale(3)
    it.check()
  }

  test(
    "the reference of an earlier rescale that is still in use takes one footer more, and its manifest"
  ) {
    val it = operator()
    it.batch(puts("1"))
    it.rescale(8)
    it.batch(puts("2"))
    it.restart()
    it.blobs.counts.reset()
    it.plan(to = 12)
    assert(it.blobs.counts.opens == 8 + 8 + 1)
  }

  test("a first load reads the groups that it takes, and little else") {
    val it = operator(groups = 4800)
    // One file of many blocks in each partition, and one of less than one.
    for (rows <- Seq(20000, 2000))
      it.batch((1 to rows).map(n => Put("default", s"key $n", util.Random.nextString(100))))
    it.restart()
    val plan = it.rescale(8)
    val bytes = it.blobs.paths.filter(_.endsWith("delta")).map(it.blobs.bytes(_).length).sum
    it.blobs.counts.reset()
    it.read()
    assert(it.blobs.counts.readBytes < bytes * 1.1)
    it.check()
    assert(plan.partitions.map(_.firstLoadBytes).sum <= bytes + 8)
  }

  test("a store whose rows are all in partition 0 stays there, at every number of partitions") {
    val it = operator(partitions = 4, ids = false, family = "constant")
    it.batch(Nil)
    val plan = it.plan(to = 9)
    assert(plan.partitions.map(_.partition) == Seq(0))
    assert(plan.layers.map(_.members.map(_.partition)) == Seq(Seq(0)))
  }

  test("a family without a rule is refused by name") {
    val it = operator(family = "none")
    it.batch(Nil)
    it.restart()
    val error = intercept[RescaleRefused](it.plan(to = 8))
    assert(error.condition == "KEYFOLD_RESCALE_NO_RULE")
    assert(
      error.getMessage.contains("operator 0 partition 0") && error.getMessage.contains("default")
    )
  }

  test("a family with a row that its hash does not place is refused, whichever partition has it") {
    val it = operator()
    it.batch(puts("1"))
    it.batch(Seq(Stray("k1", in = 3)))
    it.restart()
    val error = intercept[RescaleRefused](it.plan(to = 8))
    assert(error.condition == "KEYFOLD_RESCALE_PLACEMENT")
    assert(
      error.getMessage.contains("operator 0 partition 3") && error.getMessage.contains("default")
    )
  }

  test("after a rescale, which has moved rows by their hash, no row is taken that is elsewhere") {
    val it = operator()
    it.batch(puts("1"))
    it.rescale(to = 8)
    def isRefused() = {
      val error = intercept[MisplacedRow](it.batch(Seq(Stray("k1", in = 3))))
      assert(error.condition == "KEYFOLD_ROW_MISPLACED")
      assert(error.getMessage.contains("operator 0 partition 3 store default"))
    }
    isRefused()
    it.restart()
    it.batch(puts("2"))
    // The references go, and the rule stays.
    go(it, batches = 6)
    assert(references(it).isEmpty)
    isRefused()
    it.restart()
    isRefused()
    it.check()
  }

  test("after a rescale, also from 1 partition, no key is looked for that would be elsewhere") {
    val looks = Seq[(StoreTxn, Int, Slice) => Any](
      _.get(0, _, _, new Slice),
      _.values(0, _, _),
      _.remove(0, _, _),
      (txn, hash, _) => txn.requirePlace(0, hash)
    )
    for (before <- Seq(1, 4); look <- looks) {
      val it = operator(before)
      it.batch(puts("1") :+ Looked(in = 0)(look))
      it.rescale(to = 8)
      val error = intercept[MisplacedRow](it.batch(Seq(Looked(in = 3)(look))))
      assert(error.condition == "KEYFOLD_ROW_MISPLACED")
      it.restart()
      it.check()
    }
  }

  for (ids <- Seq(true, false); snapshot <- Seq(true, false))
    test(
      s"strays that were dropped with their family stay so, ids $ids, in a snapshot $snapshot"
    ) {
      val it = operator(ids = ids)
      it.batch(puts("1"))
      it.batch(Seq(Stray("stray", in = 3), Stray("k1", in = 2)))
      if (snapshot) it.snapshot(2)
      it.batch(Drop("default") +: puts("2"))
      it.rescale(to = 6)
      it.check()
      it.rescale(to = 3)
      it.batch(puts("3"))
      it.check()
    }

  test("files of another number of partitions are refused") {
    val it = operator()
    it.batch(puts("1"))
    it.partitions = 5
    val error = intercept[RescaleRefused](it.plan(to = 8))
    assert(error.condition == "KEYFOLD_RESCALE_STATE")
    assert(error.getMessage.contains("for 4 partitions, the offset log says 5"))
  }

  for (ids <- Seq(true, false))
    test(s"a version that lacks files is not planned, ${if (ids) "with" else "without"} ids") {
      val it = operator(ids = ids)
      it.batch(puts("1"))
      it.batch(puts("2"))
      val first =
        it.blobs.paths.filter(p => p.startsWith("state/0/3/1") && p.endsWith("delta")).head
      it.blobs.remove(first)
      assert(intercept[MissingFile](it.plan(to = 8)).path.endsWith(first))
    }

  test("a file that a reference names and that is gone, or damaged, is named") {
    for (damage <- Seq("missing", "flipped", "other length")) {
      val it = operator()
      it.batch(puts("1"))
      it.batch(puts("2"))
      it.rescale(8)
      val file = it.blobs.paths.filter(p => p.startsWith("state/0/3/1") && p.endsWith("delta")).head
      damage match {
        case "missing" => it.blobs.remove(file)
        case "flipped" =>
          it.blobs.update(file) { bytes =>
            bytes(20) = (bytes(20) ^ 1).toByte
            bytes
          }
        case _ => it.blobs.put(file, it.blobs.bytes(other(it, file)))
      }
      val error = intercept[UnreadableVersion](it.check())
      assert(error.getMessage.contains(file), damage)
      assert(error.getMessage.contains("go back to a batch before 2"), damage)
    }
  }

  private def other(it: RescaledOperator, file: String) =
    it.blobs.paths.filter(p => p.endsWith("delta") && p != file).head

  test(
    "a file of another store or partition in the place of one that a reference names is refused"
  ) {
    val it = operator()
    it.batch(puts("1"))
    it.rescale(8)
    val a = it.blobs.paths.filter(p => p.endsWith("delta")).head
    it.blobs.put(a, it.blobs.bytes(other(it, a)))
    assert(intercept[UnreadableVersion](it.check()).getMessage.contains(a))
  }

  for (ids <- Seq(true, false)) {
    test(s"an executor of the run before writes a snapshot again that is referred to, ids: $ids") {
      val it = operator(ids = ids)
      it.batch(puts("1"))
      it.batch(puts("2"))
      val late = it.snapshotLater(2, writer = "an executor that still has the version in memory")
      it.snapshot(2)
      it.rescale(8)
      late()
      it.check()
      it.rescale(3)
      it.check()
    }
  }

  test("the change feed does not cross a rescale, and says so") {
    val it = operator(partitions = 1)
    it.batch(puts("1"))
    it.rescale(2)
    it.batch(puts("2"))
    for ((from, end) <- Seq((1L, 3L), (2L, 3L), (2L, 2L))) {
      val error = intercept[UnreadableVersion](it.changes(0, from, end))
      assert(error.getMessage.contains("partitions were rescaled"))
    }
    assert(it.changes(0, 3, 3) == names.count(n => Math.floorMod(hash(n), 2) == 0))
  }

  test("a snapshot of the rescale's own version takes the reference's place, and back") {
    val it = operator()
    it.batch(puts("1"))
    it.rescale(8)
    it.batch(puts("2"))
    it.snapshot(it.version - 1)
    val snapshots = it.blobs.paths.filter(_.endsWith(".snapshot"))
    assert(snapshots.count(_.contains(s"/${it.version - 1}_")) == 8)
    it.check()
    snapshots.foreach { path =>
      it.blobs.update(path) { bytes =>
        bytes(20) = (bytes(20) ^ 1).toByte
        bytes
      }
    }
    it.check()
  }

  test("old files stay until every partition has dropped its reference, then all go (shrink)") {
    val it = operator(partitions = 6)
    it.batch(puts("1"))
    it.batch(puts("2"))
    it.maintain()
    it.rescale(2)
    go(it, 12, of = _ == 0)
    assert(plans(it).nonEmpty)
    assert((0 until 6).forall(p => it.blobs.list(s"state/0/$p").exists(_.startsWith("1_"))))
    go(it, 12)
    assert(plans(it).isEmpty)
    assert(references(it).isEmpty)
    assert((2 until 6).forall(p => it.blobs.list(s"state/0/$p").isEmpty))
  }

  test("8 -> 3 -> 8 without a snapshot between: nothing is left of what was, nothing is lost") {
    for (ids <- Seq(true, false)) {
      val it = operator(partitions = 8, ids = ids)
      it.batch(puts("1"))
      it.rescale(3)
      it.batch(Seq(Put("default", "k1", "new"), Remove("default", "k2")))
      it.rescale(8)
      it.check()
      go(it, 14)
      assert(plans(it).isEmpty && references(it).isEmpty)
      val versions = it.blobs.paths.map(_.split('/').last.takeWhile(_.isDigit).toLong)
      assert(versions.min > it.version - 8)
    }
  }

  test("rescaled again and again without snapshots, each file is named once") {
    val it = operator(partitions = 16, groups = 240)
    it.batch(puts("1"))
    for (to <- Seq(15, 16, 7, 11)) {
      val plan = it.rescale(to)
      val files = plan.layers.flatMap(_.members).flatMap(_.files).map(_.path)
      assert(files.distinct.length == files.length)
      it.check()
      it.batch(Seq(Put("default", "k1", s"of $to"), Remove("default", s"k$to")))
      it.check()
    }
    // 16 -> 15 -> 16 -> 7 -> 11, a batch each.
    assert(it.plan(12).layers.map(_.members.map(_.files.length).sum) == Seq(16, 15, 16, 7, 11))
  }

  test("of an earlier layer only what still stands on it is taken") {
    val it = operator(partitions = 4, groups = 48)
    it.batch(puts("1"))
    it.rescale(3)
    it.batch(names.take(20).map(Remove("default", _)) ++ names.drop(30).map(Put("default", _, "2")))
    it.batch(Nil)
    it.batch(Nil)
    it.maintain(_ == 1)
    for (to <- Seq(8, 5, 4)) {
      val plan = it.rescale(to)
      if (to == 8) assert(plan.layers.last.members.map(_.isOnTop) == Seq(true, false, true))
      it.check()
    }
  }

  test("a manifest that is gone, or damaged, is named") {
    for (damage <- Seq("missing", "flipped", "cut")) {
      val it = operator()
      it.batch(puts("1"))
      it.rescale(8)
      val manifest = it.blobs.paths.filter(_.endsWith(".manifest")).head
      damage match {
        case "missing" => it.blobs.remove(manifest)
        case "flipped" =>
          it.blobs.update(manifest)(bytes => bytes.updated(20, (bytes(20) ^ 1).toByte))
        case _ => it.blobs.update(manifest)(_.take(20))
      }
      val error = intercept[UnreadableVersion](it.check())
      assert(error.getMessage.contains(manifest), damage)
      val planned = intercept[StoreError](it.plan(4))
      assert(planned.getMessage.contains(manifest), damage)
    }
  }

  for (ids <- Seq(true, false))
    test(
      s"a plan whose batch became another goes, its files stay, ${if (ids) "with" else "without"} ids"
    ) {
      val it = operator(ids = ids)
      it.batch(puts("1"))
      it.batch(puts("2"))
      it.rescale(8, isDecided = false)
      assert(plans(it).length == 1)
      go(it, 2, of = _ != 0)
      assert(plans(it).length == 1)
      go(it, 2)
      assert(plans(it).isEmpty && references(it).isEmpty)
      it.check()
      it.check(it.version - 2)
    }

  test("a plan whose batch is not decided yet holds everything, and is not touched") {
    val it = operator()
    go(it, 8)
    it.rescale(8, isDecided = false)
    val before = it.blobs.paths
    it.read()
    it.maintain()
    assert(it.blobs.paths.diff(before).isEmpty && before.diff(it.blobs.paths).isEmpty)
  }

  test("a damaged plan is not acted on") {
    val it = operator()
    it.batch(puts("1"))
    it.rescale(8)
    val plan = plans(it).head.path
    it.blobs.update(plan)(_.map(b => if (b == '1') '2'.toByte else b))
    go(it, 12)
    assert((0 until 4).forall(p => it.blobs.list(s"state/0/$p").exists(_.startsWith("1_"))))
  }

  test("a plan that was lost still protects the old files, and a later rescale ends that") {
    val it = operator()
    it.batch(puts("1"))
    it.batch(Seq(Remove("default", "k1")))
    it.rescale(8)
    it.blobs.delete(plans(it).head.path)
    for (_ <- 1 to 12) it.batch(Seq(Put("default", "k2", "later")))
    it.restart()
    it.maintain(_ != 5)
    it.check()
    go(it, 12)
    assert((0 until 4).forall(p => it.blobs.list(s"state/0/$p").exists(_.startsWith("1_"))))
    it.rescale(3)
    go(it, 14)
    it.restart()
    go(it, 6)
    assert(it.blobs.list(PlanName.Folder).isEmpty && references(it).isEmpty)
    assert(it.blobs.paths.forall(!_.contains("/1_")))
  }

  test("deletions that break off are gone on with") {
    val it = operator()
    it.batch(puts("1"))
    it.rescale(8)
    val plan = it.blobs.bytes(plans(it).head.path)
    assert(RescalePlan.decode(plan, "plan").stores.head.frozen.length == 4)
    it.files.plan.fail(io.keyfold.testkit.Failure.Before) { call =>
      call.what == "delete" && call.path.startsWith("state/0/2/1_")
    }
    for (_ <- 1 to 12) {
      it.batch(puts("later"))
      it.tryMaintain()
    }
    assert(plans(it).nonEmpty)
    it.files.plan.clear()
    go(it, 2)
    assert(plans(it).isEmpty)
    assert(it.blobs.paths.forall(!_.contains("/1_")))
  }

  test("rows with checksums are moved with them") {
    val settings = StoreFixture.settings.copy(rowChecksums = Some(RowChecksumSettings(1)))
    val it = new RescaledOperator(4, 48, ids = true, settings = settings)
    it.batch(puts("1"))
    it.rescale(6)
    it.check()
    it.batch(puts("2"))
    it.check()
  }

  test("a plan is read as it was written, and not if it was changed") {
    val it = operator()
    it.batch(puts("1"))
    it.rescale(8)
    val name = plans(it).head
    val plan = RescalePlan.read(it.blobs, name)
    assert(plan.name == name && plan.from == 4 && plan.to == 8 && name.version == 2)
    assert(plan.stores.map(_.references) == Seq(references(it)))
    assert(RescalePlan.decode(RescalePlan.encode(plan), "x") == plan)
    val bytes = RescalePlan.encode(plan)
    for (at <- bytes.indices by 7) {
      val changed = bytes.updated(at, (bytes(at) ^ 1).toByte)
      intercept[CorruptFile](RescalePlan.decode(changed, "x"))
      intercept[CorruptFile](RescalePlan.decode(bytes.take(at), "x"))
    }
  }

  test("a reference says what it is") {
    val it = operator()
    it.batch(puts("1"))
    it.rescale(2)
    val path = references(it).head
    val footer = FileContents.read(it.blobs, path).footer
    assert(footer.identity.partitions == 2 && footer.identity.keyGroups == 48)
    assert(footer.lineage.isEmpty && footer.blocks.isEmpty)
    // 4 partitions become 2: each is taken whole, so the number of rows is known.
    assert(footer.families.map(_.keys).sum == names.count(n => Math.floorMod(hash(n), 2) == 0))
    val manifest = Manifest.open(it.blobs, PlanName.of(footer).manifest)
    val layers = footer.references.get.parts.map(manifest.read)
    assert(layers.map(_.partitions) == Seq(4))
    assert(layers.head.members.map(_.partition) == Seq(0, 2))
    assert(
      layers.head.members.flatMap(_.files).map(_.path.take(9)) == Seq("state/0/0", "state/0/2")
    )
  }
}

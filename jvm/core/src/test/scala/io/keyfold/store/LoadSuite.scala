package io.keyfold.store

import io.keyfold.model.VersionId
import io.keyfold.testkit.{Failure, FileCall, Gate, Running}
import org.scalatest.funsuite.AnyFunSuite

/** What a load from files does to others that use the same store: nothing, but to those who want
  * what it loads.
  */
class LoadSuite extends AnyFunSuite {
  import StoreFixture.{settings => _, _}

  // So that there are rows in memory.
  private val settings = StoreFixture.settings.copy(lazyFromBytes = Long.MaxValue)

  /** Files of versions 1 to 6, the snapshot of 3 among them, and memory that nobody has used. */
  private def sixVersions(): StoreFixture = {
    val writing = new StoreFixture
    writing.commitMaintained(6)
    new StoreFixture(writing.blobs, settings = settings)
  }

  private def holdOpen(fixture: StoreFixture, file: String): Gate =
    fixture.faults.plan.hold(_ == FileCall("open", fixture.path(file)))

  /** Each in a thread of its own, since one that hangs must fail the test and not hang it. */
  private def requireAllGoOn(store: VersionedStore, version: Long): Unit = {
    def inTime[T](body: => T): T = new Running(body).result()
    assert(inTime(store.memory).total > 0)
    assert(inTime(store.snapshotIfDue()).contains(VersionId(version)))
    inTime(store.cleanup())
    assert(inTime(rows(store.read(VersionId(version)))) == expected(version.toInt))
    inTime {
      val txn = store.begin(VersionId(version))
      put(txn, s"k${version + 1}", (version + 1).toString)
      txn.commit()
    }
    inTime(store.close())
    assert(inTime(store.memory).total == 0)
    ()
  }

  test("while a version is loaded, maintenance, tasks with others, memory and close go on") {
    val fixture = sixVersions()
    val store = fixture.open(settings.copy(deltasPerSnapshot = 1))
    store.read(VersionId(5)).release()
    val gate = holdOpen(fixture, "1.delta")
    val load = new Running(store.read(VersionId(2)))
    gate.awaitArrival()
    requireAllGoOn(store, 5)
    gate.open()
    assert(rows(load.result()) == expected(2))
    assert(fixture.loaded(6) == expected(6))
  }

  test("while a snapshot found at a load is reported, the same goes on") {
    val gate = new Gate
    @volatile var isHeld = false
    val fixture = new StoreFixture(sixVersions().blobs, settings = settings) {
      override protected def onSnapshot(version: VersionId): Unit = if (isHeld) gate.pass()
    }
    val store = fixture.open(settings.copy(deltasPerSnapshot = 1))
    store.read(VersionId(5)).release()
    isHeld = true
    val load = new Running(store.read(VersionId(4)))
    gate.awaitArrival()
    isHeld = false
    requireAllGoOn(store, 5)
    gate.open()
    assert(rows(load.result()) == expected(4))
  }

  test("a reader and a writer that want a version at once load it once, whoever comes first") {
    for (writerFirst <- Seq(true, false)) {
      val fixture = sixVersions()
      val store = fixture.open()
      def begin() = store.begin(VersionId(6))
      def read() = store.read(VersionId(6))
      val gate = holdOpen(fixture, "5.delta")
      val first = new Running(if (writerFirst) begin() else read())
      gate.awaitArrival()
      val second = new Running(if (writerFirst) read() else begin())
      second.awaitBlocked()
      gate.open()
      assert(rows(first.result()) == expected(6) && rows(second.result()) == expected(6))
      assert(store.counters.loads.sum == 1 && store.counters.memoryHits.sum == 1)
    }
  }

  test("who waits for the load of another, and is killed, stops waiting") {
    val fixture = sixVersions()
    val store = fixture.open()
    val gate = holdOpen(fixture, "5.delta")
    val load = new Running(store.read(VersionId(6)))
    gate.awaitArrival()
    val waiting = new Running(store.begin(VersionId(6)))
    waiting.awaitBlocked()
    waiting.interrupt()
    intercept[InterruptedException](waiting.result())
    gate.open()
    assert(rows(load.result()) == expected(6))
    fixture.commit(store, 6, "k7" -> "7")
    assert(fixture.loaded(7) == expected(7))
  }

  test("when the load of one fails, the next in line loads for itself") {
    val fixture = sixVersions()
    val store = fixture.open()
    val plan = fixture.faults.plan
    val gate = plan.hold(_.what == "list")
    val first = new Running(store.read(VersionId(6)))
    gate.awaitArrival()
    val second = new Running(store.begin(VersionId(6)))
    second.awaitBlocked()
    plan.fail(Failure.Before)(_ == FileCall("open", fixture.path("6.delta")))
    val again = plan.hold(_.what == "list")
    gate.open()
    intercept[Exception](first.result())
    again.awaitArrival()
    plan.clear()
    again.open()
    assert(rows(second.result()) == expected(6))
  }

  for (what <- Seq("read", "begin", "replay"))
    test(
      s"a $what in the middle of its load when the store is closed goes on, and leaves no memory"
    ) {
      val fixture = sixVersions()
      val store = fixture.open()
      val gate = holdOpen(fixture, "5.delta")
      val load = new Running(what match {
        case "read"   => store.read(VersionId(6))
        case "begin"  => store.begin(VersionId(6))
        case "replay" => store.beginReplayed(VersionId(3), VersionId(6))
      })
      gate.awaitArrival()
      new Running(store.close()).result()
      gate.open()
      val view = load.result()
      assert(rows(view) == expected(6))
      view.release()
      assert(fixture.usedBytes == 0)
    }
}

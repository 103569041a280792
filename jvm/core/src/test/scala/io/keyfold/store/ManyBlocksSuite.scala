package io.keyfold.store

import io.keyfold.model.VersionId
import io.keyfold.testkit.{Failure, Fault, FileCall, Running}
import org.scalatest.funsuite.AnyFunSuite

/** Loads of a snapshot of many blocks, which are read ahead by another thread. */
class ManyBlocksSuite extends AnyFunSuite {
  import StoreFixture._

  private val value = "v" * 300

  private def key(i: Int) = s"key $i"

  /** Versions 1 to 4, with a snapshot of the third, and memory that nobody has used. */
  private val written = {
    val fixture = new StoreFixture
    val store = fixture.open()
    fixture.commit(store, 0, (0 until 20000).map(i => key(i) -> s"$i $value"): _*)
    fixture.commit(store, 1, (0 until 20000 by 7).map(i => key(i) -> s"second $i"): _*)
    fixture.commit(store, 2, (0 until 20000 by 5).map(i => key(i) -> s"third $i"): _*)
    store.begin(VersionId(3)).release()
    assert(store.snapshotIfDue().contains(VersionId(3)))
    fixture.commit(store, 3, key(1) -> "fourth")
    store.close()
    fixture.blobs
  }
  private val rowsOf4 = (0 until 20000).map { i =>
    key(i) -> (if (i == 1) "fourth"
               else if (i % 5 == 0) s"third $i"
               else if (i % 7 == 0) s"second $i"
               else s"$i $value")
  }.toMap

  private def load(fixture: StoreFixture): Map[String, String] = {
    val store = fixture.open()
    try {
      val view = store.read(VersionId(4))
      try rows(view)
      finally view.release()
    } finally store.close()
  }

  private def readsOf(fixture: StoreFixture): Seq[FileCall] =
    fixture.faults.plan.calls.filter { call =>
      call.what == "read" && call.path.startsWith(fixture.path("3.snapshot"))
    }

  private def newFixture(isLazy: Boolean) = new StoreFixture(
    written,
    settings = settings.copy(lazyFromBytes = if (isLazy) 0 else Long.MaxValue)
  )

  for ((when, isLazy, reads) <- Seq(("at once", false, 5), ("later", true, 2))) {
    test(s"rows that are put $when all come, and nothing is read twice") {
      val fixture = newFixture(isLazy)
      assert(load(fixture) == rowsOf4)
      assert(readsOf(fixture).size > reads && readsOf(fixture).distinct == readsOf(fixture))
    }

    test(s"put $when: whichever block cannot be read, the version is built from the deltas") {
      val fixture = newFixture(isLazy)
      load(fixture)
      assert(readsOf(fixture).nonEmpty)
      for (call <- readsOf(fixture)) withClue(s"$call: ") {
        val failing = newFixture(isLazy)
        failing.faults.plan.arm(Fault(call, 0, Failure.Before))
        assert(load(failing) == rowsOf4)
        assert(failing.faults.plan.hasFailed && failing.usedBytes == 0)
      }
    }

    test(s"put $when: a load that is killed in the middle reads no more, and leaves no memory") {
      val fixture = newFixture(isLazy)
      load(fixture)
      val held = readsOf(fixture)(reads)
      val killed = newFixture(isLazy)
      val gate = killed.faults.plan.hold(_ == held)
      val running = new Running(load(killed))
      gate.awaitArrival()
      running.interrupt()
      intercept[InterruptedException](running.result())
      val calls = killed.faults.plan.calls
      assert(calls.contains(FileCall("close", killed.path("3.snapshot"))))
      assert(!calls.contains(held) && killed.usedBytes == 0)
    }
  }
}

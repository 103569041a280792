package io.keyfold.spark

import java.nio.file.Files

import io.keyfold.testkit.{Failure, FileCall}
import org.apache.spark.SparkException
import org.scalatest.funsuite.AnyFunSuite

/** Attempts whose files come late, not at all, or where another's are: what is read is what was
  * committed. As Spark's failure injection suite does for RocksDB.
  */
class AttemptFilesSuite extends AnyFunSuite with QuietLogs {
  import ProviderHistory.inHistory

  private def on(what: String, ending: String): FileCall => Boolean =
    call => call.what == what && call.path.endsWith(ending)

  private def plan(history: ProviderHistory) = history.fixture.faults.plan

  /** Versions up to `last` in `in`, each read by a new executor. */
  private def goOn(history: ProviderHistory, from: Long, last: Long)(in: Long => Any): Unit =
    for (v <- from to last) {
      in(v)
      val attempt = history.attempt(v).get
      assert(history.loaded(attempt).contains(attempt.rows), s"version $v")
    }

  /** An attempt at version 2 that fails to close its file, which may be closed later. */
  private def closesLate(history: ProviderHistory): ProviderHistory.Attempt = {
    plan(history).fail(Failure.Late)(on("close", ".delta"))
    val error = intercept[SparkException](history.tryCommit(2))
    assert(error.getCondition == "CANNOT_WRITE_STATE_STORE.CANNOT_COMMIT")
    plan(history).clear()
    history.tried.get
  }

  test("format v2: a file that is closed after the retry has committed is not read (fault 2)") {
    inHistory(new ProviderHistory(2)) { h =>
      h.commit(1)
      val late = closesLate(h)
      val other = h.open()
      val won = h.commit(2, other)
      assert(h.loaded(late).isEmpty)
      assert(h.fixture.faults.closeLate() == 1)
      assert(h.loaded(late).contains(late.rows), "it is there now, and nobody's")
      for (in <- Seq(h.current, other)) assert(h.seen(won, in).contains(won.rows))
      goOn(h, 3, 4)(h.commit(_, other))
      goOn(h, 5, 6)(h.commit(_))
      other.close()
    }
  }

  test(
    "format v2: a file that is closed after later batches and maintenance is not read (fault 2)"
  ) {
    inHistory(new ProviderHistory(2)) { h =>
      h.commit(1)
      closesLate(h)
      h.restart()
      goOn(h, 2, 6) { v =>
        h.commit(v)
        h.current.doMaintenance()
      }
      assert(h.fixture.faults.closeLate() == 1)
      goOn(h, 7, 8)(h.commit(_))
      for (v <- 2L to 8L; attempt = h.attempt(v).get)
        assert(h.loaded(attempt).contains(attempt.rows))
    }
  }

  test("format v1 promises no more than Spark does: the last attempt to end is on disk") {
    inHistory(new ProviderHistory(1)) { h =>
      h.commit(1)
      val late = closesLate(h)
      val other = h.open()
      val second = h.commit(2, other)
      assert(h.loaded(second).contains(second.rows))
      h.fixture.faults.closeLate()
      assert(h.loaded(second).contains(late.rows))
      assert(h.seen(second, other).contains(second.rows), "memory does not ask the disk")
      other.close()
    }
  }

  test("format v1, a file system that does not replace: the first attempt is on disk") {
    inHistory(new ProviderHistory(1)) { h =>
      h.commit(1)
      val first = h.tryCommit(2)
      val other = h.open()
      plan(h).fail(Failure.Taken)(on("rename", ".delta"))
      // Spark's stream takes this for success when it was told to overwrite.
      val second = h.commit(2, other)
      assert(h.loaded(second).contains(first.rows))
      assert(h.seen(second, other).contains(second.rows), "memory does not ask the disk")
      other.close()
    }
  }

  test("format v2, a file system that does not replace: no two attempts share a name (fault 9)") {
    inHistory(new ProviderHistory(2)) { h =>
      plan(h).fail(Failure.Taken)(on("rename", ""))
      h.commit(1)
      val first = h.tryCommit(2, force = true)
      val other = h.open()
      val second = h.commit(2, other, force = true)
      for (attempt <- Seq(first, second)) assert(h.loaded(attempt).contains(attempt.rows))
      goOn(h, 3, 5) { v =>
        h.commit(v, other)
        other.doMaintenance()
      }
      other.close()
    }
  }

  for (format <- Seq(1, 2))
    test(
      s"format v$format: a rename that copies and dies half way is found, and mended (fault 9)"
    ) {
      inHistory(new ProviderHistory(format)) { h =>
        val base = h.commit(1)
        plan(h).fail(Failure.Within(200))(on("rename", ".delta"))
        intercept[SparkException](h.tryCommit(2))
        plan(h).clear()
        val torn = h.tried.get
        val error = intercept[SparkException](h.loaded(torn))
        assert(error.getMessage.contains("[KEYFOLD_VERSION_UNREADABLE]"))
        assert(h.loaded(base).contains(base.rows))
        goOn(h, 2, 3)(h.commit(_))
      }
    }

  for (format <- Seq(1, 2))
    test(
      s"format v$format: a snapshot that is closed after ownership moved does no harm (fault 3)"
    ) {
      inHistory(new ProviderHistory(format, retainTwo)) { h =>
        for (v <- 1 to 4) h.commit(v.toLong)
        h.confirm(4)
        plan(h).fail(Failure.Late)(on("close", ".snapshot"))
        h.current.doMaintenance()
        assert(!h.fixture.files.exists(_.endsWith(".snapshot")))
        val folder = h.fixture.root.resolve("state/0/0").toFile
        val unfinished = folder.listFiles.toSeq.filter(_.getName.endsWith(".tmp")).head
        val late = Files.readAllBytes(unfinished.toPath)
        plan(h).clear()
        val other = h.open()
        goOn(h, 5, 12) { v =>
          h.commit(v, other)
          other.doMaintenance()
        }
        assert(!h.fixture.files.exists(_.startsWith("4")), "the new owner has cleaned up")
        assert(!unfinished.exists, "as well as the file that was not finished")
        // An object store has no such file, and shows it all the same.
        val name =
          unfinished.getName.replaceFirst("^\\.", "").replaceFirst("snapshot.*", "snapshot")
        Files.write(unfinished.toPath.resolveSibling(name), late)
        h.current.doMaintenance()
        for (v <- 10L to 12L; attempt = h.attempt(v).get)
          assert(h.loaded(attempt).contains(attempt.rows))
        goOn(h, 13, 16) { v =>
          h.commit(v, other)
          other.doMaintenance()
        }
        assert(!h.fixture.files.exists(_.startsWith("4")))
        other.close()
      }
    }

  test("format v2: a store tells of its own commit, though another has committed since") {
    inHistory(new ProviderHistory(2)) { h =>
      val first = h.current.getStore(0)
      first.commit()
      val info = first.getStateStoreCheckpointInfo()
      val second = h.current.getStore(1, info.stateStoreCkptId)
      second.commit()
      val next = second.getStateStoreCheckpointInfo()
      assert(first.getStateStoreCheckpointInfo() == info)
      assert(info.batchVersion == 1 && next.batchVersion == 2)
      assert(next.baseStateStoreCkptId == info.stateStoreCkptId)
      assert(next.stateStoreCkptId != info.stateStoreCkptId)
    }
  }

  private def retainTwo = Map("spark.sql.streaming.minBatchesToRetain" -> "2")
}

package io.keyfold.store

import java.io.IOException

import io.keyfold.errors.{MissingFile, StoreError}
import io.keyfold.store.file.StoreSettings
import io.keyfold.testkit.{Failure, Fault, FileCall}
import org.scalatest.funsuite.AnyFunSuite

/** Each operation of a store, with each file call that it makes failing in each way there is. Every
  * version committed stays as it is; the version being committed is there whole or not at all; and
  * a retry goes through, in the process that met the fault and in another.
  */
class InterruptedOperationSuite extends AnyFunSuite {
  import InterruptedOperationSuite._

  for (ids <- Seq(false, true); operation <- operations) {
    val format = if (ids) "v2" else "v1"

    test(
      s"${operation.name}, format $format: whatever file call fails, the old version or the new"
    ) {
      val calls = callsOf(operation, ids)
      assert(calls.map(_.what).distinct == operation.expected(ids))
      for (fault <- Fault.all(calls)(operation.failures); after <- Afterwards.all)
        withClue(s"$fault, then $after: ")(new Run(operation, ids).fails(fault, after))
    }
  }

  private def callsOf(operation: Operation, ids: Boolean): Seq[FileCall] = {
    val run = new Run(operation, ids)
    run.succeeds()
    run.calls
  }

  private class Run(operation: Operation, ids: Boolean) {
    private val history = new History(ids, operation.settings)
    operation.prepare(history)
    history.plan.clear()

    def calls: Seq[FileCall] = history.plan.calls

    def succeeds(): Any = operation.act(history)

    def fails(fault: Fault, after: Afterwards): Unit = {
      history.plan.arm(fault)
      val succeeded =
        try {
          operation.act(history)
          true
        } catch {
          // What cannot be asked for must not be taken for missing.
          case e: MissingFile if fault.how != Failure.Unseen => fail(e)
          case _: IOException | _: StoreError                => false
        }
      assert(history.plan.hasFailed, "the fault was not met")
      history.plan.clear()
      requireIntact(operation.intact)
      history.tried.foreach(requireOldOrNew(_, succeeded, after))
      if (after != Afterwards.Look) {
        if (after == Afterwards.RetryElsewhere) history.restart()
        retry()
      }
    }

    private def requireIntact(versions: Seq[Long]): Unit =
      for (v <- versions)
        assert(history.loaded(history.id(v)) == history.attempt(v).map(_.rows), s"version $v")

    private def requireOldOrNew(
        tried: History.Attempt,
        succeeded: Boolean,
        after: Afterwards
    ): Unit = {
      val found = history.loaded(tried.version)
      val earlier = history.attempt(tried.version.version).filter(_.version == tried.version)
      val either = Seq(earlier.map(_.rows), Some(tried.rows))
      assert((if (succeeded) either.tail else either).contains(found))
      // The process that met the fault does not see it otherwise.
      assert(after != Afterwards.Look || history.seen(tried.version) == found)
      ()
    }

    /** As Spark goes on: the version again, and two more, with maintenance. */
    private def retry(): Unit = {
      for (v <- operation.next to operation.next + 2) {
        history.commit(v)
        requireIntact(Seq(v))
        history.maintain()
      }
      val last = operation.next + 2
      val retained = math.max(1L, last - operation.settings.versionsToRetain)
      requireIntact(operation.intact.filter(_ >= retained) ++ (operation.next to last))
      assert(operation.leftOver(history).isEmpty)
      ()
    }
  }
}

private object InterruptedOperationSuite {

  /** What happens once the fault is over. */
  sealed trait Afterwards
  object Afterwards {
    case object Look extends Afterwards
    case object RetryHere extends Afterwards
    case object RetryElsewhere extends Afterwards
    val all: Seq[Afterwards] = Seq(Look, RetryHere, RetryElsewhere)
  }

  /** @param expected
    *   operations on files that it makes, in order of their first
    * @param intact
    *   versions that must stay what they are
    * @param next
    *   version that is committed after it
    */
  class Operation(
      val name: String,
      val expected: Boolean => Seq[String],
      val intact: Seq[Long],
      val next: Long,
      val settings: StoreSettings = StoreFixture.settings
  )(val prepare: History => Unit)(val act: History => Any) {

    /** Files that should be gone when all is over. */
    def leftOver(history: History): Seq[String] = Nil

    /** Ways in which a call fails that the guarantees of files allow. */
    def failures(call: FileCall): Seq[Failure] = call.what match {
      case "write"  => Failure.Before +: Fault.within(call.bytes) :+ Failure.After
      case "delete" => Seq(Failure.Before, Failure.After)
      case "list"   => Seq(Failure.Before, Failure.Unseen)
      case _        => Seq(Failure.Before)
    }
  }

  private val written = (ids: Boolean) => if (ids) Seq("write") else Seq("exists", "write")

  private val commit = new Operation("commit", written, 1L to 4L, 5)(
    _.commitMaintained(1 to 4)
  )(_.tryCommit(5))

  private val first = new Operation("the first commit", written, Nil, 1)(_ => ())(_.tryCommit(1))

  private val forced = new Operation(
    "commit with a snapshot",
    ids => if (ids) written(ids) else written(ids) :+ "open",
    1L to 4L,
    5
  )(
    _.commitMaintained(1 to 4)
  )(_.tryCommit(5, force = true))

  private val loading = new Operation(
    "load and commit",
    ids => Seq("list", "open", "read", "close") ++ written(ids),
    1L to 4L,
    5
  )({ h =>
    h.commitMaintained(1 to 4)
    h.restart()
  })(_.tryCommit(5))

  /** Under format v1 it takes the place of files that are there. */
  private val again = new Operation(
    "commit after a rollback",
    written,
    1L to 2L,
    3
  )({ h =>
    h.commitMaintained(1 to 4)
    assert(h.files.exists(_.endsWith(".snapshot")))
    h.confirm(2)
  })(_.tryCommit(3))

  private val snapshot = new Operation(
    "snapshot",
    ids => if (ids) Seq("write") else Seq("open", "read", "close", "write"),
    1L to 4L,
    5
  )({ h =>
    for (v <- 1L to 4L) h.commit(v)
    h.confirm(4)
  })(_.store.snapshotIfDue())

  /** Of the newest of so many versions. */
  private def loadOf(name: String, last: Int, settings: StoreSettings) = new Operation(
    name,
    _ => Seq("list", "open", "read", "close"),
    1L to last.toLong,
    last + 1L,
    settings
  )(_.commitMaintained(1 to last))({ h =>
    h.restart()
    val found = StoreFixture.rows(h.store.read(h.id(last.toLong)))
    assert(h.attempt(last.toLong).map(_.rows).contains(found))
  }) {
    override def failures(call: FileCall): Seq[Failure] = call.what match {
      case "open" | "exists" => Seq(Failure.Before, Failure.Unseen)
      case _                 => super.failures(call)
    }
  }

  private val replay = new Operation(
    "replay",
    _ => Seq("open", "read", "close", "exists"),
    1L to 5L,
    6
  )(_.commitMaintained(1 to 5))({ h =>
    val view = h.store.readReplayed(h.id(3), h.id(5))
    assert(h.attempt(5).map(_.rows).contains(StoreFixture.rows(view)))
  })

  /** Versions 8 to 10 are to be retained, for which those from 6 on are needed. */
  private val cleanup = new Operation(
    "cleanup",
    _ => Seq("open", "read", "close", "list", "delete"),
    6L to 10L,
    11,
    StoreFixture.settings.copy(versionsToRetain = 2)
  )({ h =>
    h.commitMaintained(1 to 10)
    h.confirm(10)
  })(_.store.cleanup()) {
    override def leftOver(history: History): Seq[String] =
      history.files.filter(file => file.takeWhile(_.isDigit).toLong < 6)

    override def failures(call: FileCall): Seq[Failure] =
      if (call.what == "open") Seq(Failure.Before, Failure.Unseen) else super.failures(call)
  }

  private val merging = StoreFixture.settings.copy(snapshotAfterShare = 1000)

  /** Under format v1 it is a snapshot. */
  private val merge = new Operation(
    "merge",
    ids =>
      if (ids) Seq("open", "read", "write", "close") else Seq("open", "read", "close", "write"),
    1L to 8L,
    9,
    merging
  )({ h =>
    h.commitMaintained(1 to 4)
    for (v <- 5L to 8L) h.commit(v)
    h.confirm(8)
  })(_.store.snapshotIfDue())

  /** Versions 10 to 12 are to be retained: a merged delta of version 10 or one before is their
    * base.
    */
  private val cleanupMerged = new Operation(
    "cleanup of merged deltas",
    _ => Seq("open", "read", "close", "list", "delete"),
    10L to 12L,
    13,
    merging.copy(versionsToRetain = 2)
  )({ h =>
    h.commitMaintained(1 to 12)
    h.confirm(12)
  })(_.store.cleanup()) {
    override def leftOver(history: History): Seq[String] =
      history.files.filter(file => file.endsWith(".delta") && file.takeWhile(_.isDigit).toLong < 10)

    override def failures(call: FileCall): Seq[Failure] =
      if (call.what == "open") Seq(Failure.Before, Failure.Unseen) else super.failures(call)
  }

  val operations: Seq[Operation] = Seq(
    first,
    commit,
    forced,
    loading,
    again,
    snapshot,
    loadOf("load", 5, StoreFixture.settings),
    replay,
    cleanup,
    merge,
    loadOf("load of merged deltas", 12, merging),
    cleanupMerged
  )
}

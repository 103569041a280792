package io.keyfold.spark

import io.keyfold.testkit.{Failure, Fault, FileCall}
import org.apache.spark.SparkException
import org.scalatest.funsuite.AnyFunSuite

/** As core's InterruptedOperationSuite, through Spark's checkpoint file manager: each of its calls
  * that an operation leads to fails in each way there is.
  */
class InterruptedProviderSuite extends AnyFunSuite with QuietLogs {
  import InterruptedProviderSuite._
  import ProviderHistory.inHistory

  for (format <- Seq(1, 2); operation <- operations)
    test(s"${operation.name}, format v$format: whatever call fails, the old version or the new") {
      inHistory(new ProviderHistory(format)) { template =>
        operation.write(template)
        val calls = callsOf(operation, template)
        assert(calls.map(_.what).distinct == operation.expected(format))
        for (fault <- Fault.all(calls)(failures); elsewhere <- Seq(false, true))
          withClue(s"$fault, then a retry ${if (elsewhere) "elsewhere" else "there"}: ") {
            inHistory(template.copy(operation.confs))(check(operation, _, fault, elsewhere))
          }
      }
    }

  private def callsOf(operation: Operation, template: ProviderHistory): Seq[FileCall] =
    inHistory(template.copy(operation.confs)) { history =>
      operation.load(history)
      history.fixture.faults.plan.clear()
      alone {
        operation.act(history)
        history.fixture.faults.plan.calls
      }
    }

  private def check(
      operation: Operation,
      history: ProviderHistory,
      fault: Fault,
      elsewhere: Boolean
  ): Unit = {
    val plan = history.fixture.faults.plan
    operation.load(history)
    plan.arm(fault)
    val succeeded =
      try {
        alone(operation.act(history))
        true
      } catch {
        case e: SparkException =>
          assert(Iterator.iterate[Throwable](e)(_.getCause).takeWhile(_ != null).exists(isInjected))
          false
      }
    assert(plan.hasFailed, "the fault was not met")
    plan.clear()
    requireRows(history, operation.intact)
    history.tried.foreach { tried =>
      val earlier = history.attempt(tried.version).filter(_.id == tried.id).map(_.rows)
      val either = Seq(earlier, Some(tried.rows))
      assert((if (succeeded) either.tail else either).contains(history.loaded(tried)))
    }
    if (elsewhere) history.restart()
    for (v <- operation.next to operation.next + 1) {
      history.commit(v)
      requireRows(history, Seq(v))
      history.current.doMaintenance()
    }
    requireRows(history, operation.next to operation.next + 1)
  }

  /** Calls of the background thread are not the operation's. */
  private def alone[T](act: => T): T = {
    val background = InBackground.hold()
    try act
    finally background.open()
  }

  private def isInjected(e: Throwable) = e.getMessage.startsWith("injected")

  private def requireRows(history: ProviderHistory, versions: Seq[Long]): Unit =
    for (v <- versions; attempt <- history.attempt(v))
      assert(history.loaded(attempt).contains(attempt.rows), s"version $v")

  private def failures(call: FileCall): Seq[Failure] = call.what match {
    case "write" => Seq(0, call.bytes / 2, call.bytes - 1).map(Failure.Within(_))
    case "mkdirs" | "create" | "close" => Seq(Failure.Before, Failure.After)
    case "delete"                      => Seq(Failure.Before, Failure.After)
    case "rename"                      => Seq(Failure.Before, Failure.After)
    case "list"                        => Seq(Failure.Before, Failure.Unseen)
    case _                             => Seq(Failure.Before)
  }
}

private object InterruptedProviderSuite {

  /** @param expected
    *   calls that it leads to, in order of their first
    * @param write
    *   makes the files that are there before
    * @param load
    *   brings a provider over such files to where it can begin
    */
  final class Operation(
      val name: String,
      val expected: Int => Seq[String],
      val intact: Seq[Long],
      val next: Long,
      val confs: Map[String, String] = Map.empty
  )(
      val write: ProviderHistory => Unit,
      val load: ProviderHistory => Unit,
      val act: ProviderHistory => Any
  )

  private val file = Seq("create", "write", "close", "rename")
  private def written(format: Int) = if (format == 1) "exists" +: file else file

  /** The folder is made once a file system says that it is not there. */
  private def firstWritten(format: Int) = written(format).flatMap {
    case "create" => Seq("create", "mkdirs")
    case call     => Seq(call)
  }

  private def fourVersions(history: ProviderHistory): Unit = for (v <- 1 to 4) {
    history.commit(v.toLong)
    history.current.doMaintenance()
  }

  val operations: Seq[Operation] = Seq(
    new Operation("the first commit", firstWritten, Nil, 1)(_ => (), _ => (), _.tryCommit(1)),
    new Operation("commit", written, 3L to 4L, 5)(fourVersions, _.confirm(4), _.tryCommit(5)),
    new Operation("commit with a snapshot", written, 3L to 4L, 5)(
      fourVersions,
      _.confirm(4),
      _.tryCommit(5, force = true)
    ),
    new Operation("commit after a rollback", written, 1L to 1L, 2)(
      fourVersions,
      _.confirm(1),
      _.tryCommit(2)
    ),
    new Operation("load", _ => Seq("list", "open", "read"), 3L to 4L, 5)(
      fourVersions,
      _ => (),
      history => assert(history.seen(history.attempt(4).get) == history.attempt(4).map(_.rows))
    ),
    new Operation(
      "maintenance",
      format =>
        if (format == 1) Seq("open", "read") ++ file ++ Seq("list", "delete")
        else file ++ Seq("open", "read", "list", "delete"),
      4L to 6L,
      7,
      Map("spark.sql.streaming.minBatchesToRetain" -> "2")
    )(
      history => {
        fourVersions(history)
        for (v <- 5L to 6L) history.commit(v)
      },
      _.confirm(6),
      _.current.doMaintenance()
    )
  )
}

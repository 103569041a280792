package io.keyfold.spark.checkpoint

import java.io.{IOException, UncheckedIOException}
import java.util.concurrent.atomic.AtomicLong

import scala.annotation.tailrec
import scala.util.control.NonFatal

import io.keyfold.errors.StoreError
import org.apache.spark.SparkThrowable
import org.slf4j.LoggerFactory

/** Checks of a checkpoint that must not stop a query which would run without them. */
private[spark] object IfReadable {
  private val log = LoggerFactory.getLogger(getClass.getName.stripSuffix("$"))
  private val count = new AtomicLong

  /** How many checks have failed in a way that is not expected. */
  def unexpected: Long = count.get

  /** What a check finds; None if it cannot read what it looks at, which is for Spark to report. Any
    * other failure is a defect of Keyfold: it is logged and counted, and finds nothing either.
    *
    * @param what
    *   the check, for the log
    */
  def apply[T](what: => String)(check: => Option[T]): Option[T] =
    try check
    catch {
      case NonFatal(e) =>
        if (!isExpected(e)) {
          count.incrementAndGet()
          log.warn(
            s"Failed to check $what; the query goes on without this check. Please report it",
            e
          )
        }
        None
    }

  /** Whether it says that a file, or the state, cannot be read. Spark's errors tell by their cause:
    * that of a task may be any.
    */
  @tailrec
  private def isExpected(e: Throwable): Boolean = e match {
    case _: StoreError | _: IOException | _: UncheckedIOException => true
    case _: SparkThrowable => e.getCause == null || isExpected(e.getCause)
    case _                 => false
  }
}

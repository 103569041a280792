package io.keyfold.spark.start

import java.io.IOException
import java.util.concurrent.ConcurrentLinkedQueue
import java.util.concurrent.atomic.AtomicBoolean

import scala.jdk.CollectionConverters._

import io.keyfold.errors.Invalid
import io.keyfold.spark.{KeyfoldExtensions, LocalSpark, QuietLogs}
import io.keyfold.spark.admin.rescale.Scenario
import io.keyfold.spark.checkpoint.IfReadable
import org.apache.logging.log4j.core.appender.AbstractAppender
import org.apache.logging.log4j.core.config.{Configurator, Property}
import org.apache.logging.log4j.core.{LogEvent, Logger}
import org.apache.logging.log4j.{Level, LogManager}
import org.apache.spark.SparkException
import org.scalatest.funsuite.AnyFunSuite

/** A defect of Keyfold in a check of the start is seen by those who run it, and not by the query.
  */
class UnexpectedFailureSuite extends AnyFunSuite with QuietLogs with LocalSpark {
  override protected def settings: Map[String, String] =
    Map("spark.sql.extensions" -> classOf[KeyfoldExtensions].getName)

  private def checked(e: Exception): Option[Unit] = IfReadable("a test")(throw e)

  test("a check that fails unexpectedly is logged with its stack and counted; the query goes on") {
    val it = new Scenario(spark, Scenario.aggregation, format = 2)
    it.run(2)
    val isNext = new AtomicBoolean(true)
    it.faults.plan.decide { call =>
      if (call.what == "list" && call.path == "keyfold" && isNext.getAndSet(false))
        throw new IndexOutOfBoundsException("planted")
      None
    }
    val before = IfReadable.unexpected
    val events = logged(it.run(1))
    assert(!isNext.get)
    assert(IfReadable.unexpected == before + 1)
    assert(events.map(it => it.getLevel -> it.getThrown.getMessage) == Seq(Level.WARN -> "planted"))
    it.check()
  }

  test("what cannot be read is neither logged nor counted") {
    val unreadable = Seq(
      new IOException("no disk"),
      new Invalid("KEYFOLD_CHECKPOINT_DAMAGED", "torn"),
      new SparkException("a task failed", new IOException("no disk")),
      new SparkException("an executor is lost")
    )
    val before = IfReadable.unexpected
    assert(logged(unreadable.foreach(e => assert(checked(e).isEmpty))).isEmpty)
    assert(IfReadable.unexpected == before)
  }

  test("a defect in a task is one") {
    val before = IfReadable.unexpected
    val failed = new SparkException("a task failed", new NullPointerException)
    assert(logged(assert(checked(failed).isEmpty)).length == 1)
    assert(IfReadable.unexpected == before + 1)
  }

  private def logged(body: => Any): Seq[LogEvent] = {
    val events = new ConcurrentLinkedQueue[LogEvent]
    val appender = new AbstractAppender("events", null, null, true, Property.EMPTY_ARRAY) {
      override def append(event: LogEvent): Unit = {
        events.add(event.toImmutable)
        ()
      }
    }
    appender.start()
    val name = classOf[IfReadable.type].getName.stripSuffix("$")
    Configurator.setLevel(name, Level.WARN)
    val logger = LogManager.getLogger(name).asInstanceOf[Logger]
    logger.addAppender(appender)
    try body
    finally logger.removeAppender(appender)
    events.asScala.toSeq
  }
}

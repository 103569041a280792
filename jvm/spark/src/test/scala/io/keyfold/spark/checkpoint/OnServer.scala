package io.keyfold.spark.checkpoint

import java.nio.file.{Files, Path}

import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.{Assertions, BeforeAndAfterAll, Outcome}

/** A suite whose tests share a server, which the first of them starts. */
trait OnServer[S <: AutoCloseable] extends AnyFunSuite with BeforeAndAfterAll {
  private var started: Option[S] = None

  protected def start(): S

  protected def server: S = started.get

  override protected def withFixture(test: NoArgTest): Outcome = {
    if (started.isEmpty) started = Some(start())
    super.withFixture(test)
  }

  override protected def afterAll(): Unit = started.foreach(_.close())
}

object OnServer extends Assertions {

  /** Skips the test where a server's file is missing, unless it has to be there. */
  def need(file: Path, advice: String): Unit = {
    val there = Files.exists(file)
    if (!there && sys.env.get("KEYFOLD_SERVERS").contains("required")) fail(s"There is no $file")
    assume(there, advice)
    ()
  }
}

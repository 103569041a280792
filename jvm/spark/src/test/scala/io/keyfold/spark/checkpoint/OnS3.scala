package io.keyfold.spark.checkpoint

import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.{BeforeAndAfterAll, Outcome}

/** A suite whose tests share an S3 server, which the first of them starts. */
trait OnS3 extends AnyFunSuite with BeforeAndAfterAll {
  protected var server: S3Server = _

  override protected def withFixture(test: NoArgTest): Outcome = {
    if (server == null) server = S3Server.needed()
    super.withFixture(test)
  }

  override protected def afterAll(): Unit = if (server != null) server.close()
}

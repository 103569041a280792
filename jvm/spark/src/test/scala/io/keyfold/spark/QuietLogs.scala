package io.keyfold.spark

import org.apache.logging.log4j.Level
import org.apache.logging.log4j.core.config.Configurator
import org.scalatest.{BeforeAndAfterAll, Suite}

/** For suites that provoke failures by the hundred, each of which would be logged with its stack.
  */
trait QuietLogs extends BeforeAndAfterAll { this: Suite =>

  override def beforeAll(): Unit = {
    Configurator.setRootLevel(Level.OFF)
    super.beforeAll()
  }

  override def afterAll(): Unit =
    try super.afterAll()
    finally Configurator.setRootLevel(Level.WARN)
}

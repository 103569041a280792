package io.keyfold.conformance

import org.apache.spark.sql.QueryTest
import org.apache.spark.sql.execution.streaming.state.StateStoreProvider
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.test.SharedSparkSession

/** The provider that the runner has set for this JVM. */
object ConfiguredProvider {
  val className: String = sys.props(SQLConf.STATE_STORE_PROVIDER_CLASS.key)

  /** Spark's HDFSBacked; what it cannot do is left out of the suites that ask for it. */
  def isHdfsBacked: Boolean = className == Provider.HdfsBacked.className

  def make(): StateStoreProvider = StateStoreProvider.create(className)
}

/** Uses the configured provider where a suite names HDFSBacked in code. */
trait ConfiguredForHdfsBacked extends QueryTest with SharedSparkSession {
  override protected def withSQLConf[T](pairs: (String, String)*)(f: => T): T = {
    val key = SQLConf.STATE_STORE_PROVIDER_CLASS.key
    val configured = pairs.map {
      case (`key`, Provider.HdfsBacked.className) => key -> ConfiguredProvider.className
      case other                                  => other
    }
    super.withSQLConf(configured: _*)(f)
  }
}

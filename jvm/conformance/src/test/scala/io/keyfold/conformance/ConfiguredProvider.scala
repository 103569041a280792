package io.keyfold.conformance

import org.apache.spark.sql.QueryTest
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.test.SharedSparkSession

/** Uses the configured provider where a suite names another in code. */
sealed trait ConfiguredProvider extends QueryTest with SharedSparkSession {

  /** Simple class name of the provider that the suite names. */
  protected def named: String

  override protected def withSQLConf[T](pairs: (String, String)*)(f: => T): T = {
    val key = SQLConf.STATE_STORE_PROVIDER_CLASS.key
    val className = s"org.apache.spark.sql.execution.streaming.state.$named"
    val configured = pairs.map {
      case (`key`, `className`) => key -> sparkContext.getConf.get(key)
      case other                => other
    }
    super.withSQLConf(configured: _*)(f)
  }
}

trait ConfiguredForRocksDb extends ConfiguredProvider {
  override protected def named: String = "RocksDBStateStoreProvider"
}

/** What a suite does with RocksDB, here for state formats 3 and 4, stays as it is. */
trait ConfiguredForHdfsBacked extends ConfiguredProvider {
  override protected def named: String = "HDFSBackedStateStoreProvider"
}

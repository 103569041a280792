package io.keyfold.conformance

import org.apache.spark.sql.QueryTest
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.test.SharedSparkSession

/** Uses the configured provider where a suite names RocksDB in code. */
trait ConfiguredForRocksDb extends QueryTest with SharedSparkSession {
  private val key = SQLConf.STATE_STORE_PROVIDER_CLASS.key
  private val RocksDb =
    "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"

  override protected def withSQLConf[T](pairs: (String, String)*)(f: => T): T = {
    val configured = pairs.map {
      case (`key`, RocksDb) => key -> sparkContext.getConf.get(key)
      case other            => other
    }
    super.withSQLConf(configured: _*)(f)
  }
}

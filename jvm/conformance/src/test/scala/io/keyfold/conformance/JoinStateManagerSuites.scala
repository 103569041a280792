package io.keyfold.conformance

import org.apache.spark.sql.QueryTest
import org.apache.spark.sql.execution.streaming.state._
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.test.SharedSparkSession

/** Uses the configured provider where a suite names HDFSBacked in code. What a suite does with
  * RocksDB, here for state formats 3 and 4, stays as it is.
  */
trait ConfiguredForHdfsBacked extends QueryTest with SharedSparkSession {
  private val key = SQLConf.STATE_STORE_PROVIDER_CLASS.key
  private val HdfsBacked =
    "org.apache.spark.sql.execution.streaming.state.HDFSBackedStateStoreProvider"

  override protected def withSQLConf[T](pairs: (String, String)*)(f: => T): T = {
    val configured = pairs.map {
      case (`key`, HdfsBacked) => key -> sparkContext.getConf.get(key)
      case other               => other
    }
    super.withSQLConf(configured: _*)(f)
  }
}

class ConfiguredJoinStateManagerSuite
    extends SymmetricHashJoinStateManagerSuite
    with ConfiguredForHdfsBacked

class ConfiguredJoinStateManagerEventTimeInKeySuite
    extends SymmetricHashJoinStateManagerEventTimeInKeySuite
    with ConfiguredForHdfsBacked

class ConfiguredJoinStateManagerEventTimeInValueSuite
    extends SymmetricHashJoinStateManagerEventTimeInValueSuite
    with ConfiguredForHdfsBacked

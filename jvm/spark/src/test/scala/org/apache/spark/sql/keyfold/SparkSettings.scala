package org.apache.spark.sql.keyfold

import org.apache.spark.sql.internal.SQLConf

/** What Spark says of its settings. (Since when it has them, it does not always say rightly.) */
object SparkSettings {
  def has(key: String): Boolean = SQLConf.containsConfigKey(key)
}

package org.apache.spark.sql.keyfold

/** Names, places and types that differ in other Spark lines. */
object SparkShim extends ShimSince41 with ShimBefore42 {
  type Provider = ProviderBefore42
}

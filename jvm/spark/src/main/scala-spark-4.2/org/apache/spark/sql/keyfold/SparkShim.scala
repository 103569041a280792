package org.apache.spark.sql.keyfold

/** Names, places and types that differ in other Spark lines. */
object SparkShim extends ShimSince42 with ShimBefore43 {
  type Provider = ProviderBefore43
  type ReadStore = ReadStoreBefore43
}

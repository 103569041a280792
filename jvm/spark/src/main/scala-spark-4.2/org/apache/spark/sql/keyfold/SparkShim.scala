package org.apache.spark.sql.keyfold

import scala.annotation.unused

/** Names, places and types that differ in other Spark lines. */
object SparkShim extends ShimSince42 with ShimBefore43 {
  type Provider = ProviderBefore43
  type ReadStore = ReadStoreBefore43

  /** The checkpoint format under which a query continues a checkpoint of `format` when `wanted` is
    * set; None if Spark refuses to.
    */
  def continuesUnder(@unused format: Int, wanted: Int): Option[Int] = Some(wanted)
}

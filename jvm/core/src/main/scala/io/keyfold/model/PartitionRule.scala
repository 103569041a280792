package io.keyfold.model

/** How a row's key determines its partition, as named in files (`partitionKey`), where that is not
  * a list of key columns.
  */
object PartitionRule {

  /** The partition key of a family with no known rule, whose rows are hashed by the whole key. */
  val NoRule = "none"

  /** The partition key of a family whose rows are all in partition 0, for any N. */
  val Constant = "constant"
}

package io.keyfold.model

/** How the partition of a row follows from its key, as files name it (`partitionKey`), where it is
  * not given by some of the key's columns.
  */
object PartitionRule {

  /** The partition key of a family whose rows are hashed by their whole key for want of a rule. */
  val NoRule = "none"

  /** The partition key of a family whose rows are all in partition 0, whatever N is. */
  val Constant = "constant"
}

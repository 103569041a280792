package io.keyfold.spark.start

import scala.util.Try

import org.apache.spark.sql.keyfold.CheckpointLogs

/** The last committed batch of a checkpoint.
  *
  * @param provider
  *   class name of the state store provider that the query ran with
  */
private[start] final case class LastBatch(logs: CheckpointLogs, batch: Long, provider: String) {
  def partitions: Option[Int] = logs.partitions(batch)

  /** The checkpoint's format: 1, or 2 if its state has ids. */
  def format: Int = logs.formatOf(batch)

  /** A rescale that was begun as the next batch and not finished: the number of partitions that it
    * gives. A rescale has a batch of its own, and nothing else changes the number.
    */
  def unfinishedRescale: Option[Int] = for {
    begun <- logs.lastBegun
    if begun > batch
    from <- partitions
    to <- logs.partitions(begun)
    if to != from
  } yield to
}

private[start] object LastBatch {

  /** None if there is none, or if the logs cannot be read: Spark reports the latter itself. */
  def of(logs: CheckpointLogs): Option[LastBatch] = Try {
    for {
      batch <- logs.lastCommitted
      settings <- logs.settings(batch)
    } yield LastBatch(logs, batch, settings.getOrElse(CheckpointLogs.ProviderKey, ""))
  }.toOption.flatten
}

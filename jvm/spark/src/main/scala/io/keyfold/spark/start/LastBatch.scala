package io.keyfold.spark.start

import io.keyfold.errors.RescaleRefused
import io.keyfold.spark.admin.rescale.UnfinishedRescale
import io.keyfold.spark.checkpoint.{CheckpointTools, SinkChoice}
import org.apache.spark.sql.SparkSession
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

  /** Why a rescale must be finished or undone before the query starts. */
  def unfinishedRescale(session: SparkSession, sink: SinkChoice): Option[RescaleRefused] =
    CheckpointTools.using(session, logs.location) { it =>
      new UnfinishedRescale(it.logs, it.blobs, it.files).refusal(batch, sink)
    }
}

private[start] object LastBatch {

  /** None if there is none.
    *
    * @throws io.keyfold.errors.Invalid
    *   if Spark could not read what it starts with: the newest entries of its logs
    */
  def of(logs: CheckpointLogs): Option[LastBatch] = {
    logs.lastBegun.foreach(logs.settings)
    for {
      batch <- logs.lastCommitted
      settings <- logs.settings(batch) if logs.hasCommitted(batch)
    } yield LastBatch(logs, batch, settings.getOrElse(CheckpointLogs.ProviderKey, ""))
  }
}

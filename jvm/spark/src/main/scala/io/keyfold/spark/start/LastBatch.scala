package io.keyfold.spark.start

import io.keyfold.errors.{Invalid, RescaleRefused}
import io.keyfold.spark.admin.AdminApi
import io.keyfold.spark.admin.rescale.UnfinishedRescale
import io.keyfold.spark.checkpoint.{CheckpointLogs, CheckpointTools, Command}
import org.apache.spark.sql.SparkSession
import org.slf4j.LoggerFactory

/** The last committed batch of a checkpoint.
  *
  * @param provider
  *   class name of the state store provider that the query ran with
  */
private[start] final case class LastBatch(logs: CheckpointLogs, batch: Long, provider: String) {
  import LastBatch.log

  private def partitions: Option[Int] = logs.partitions(batch)

  /** The checkpoint's format: 1, or 2 if its state has ids. */
  def format: Int = logs.formatOf(batch)

  /** Why a rescale must be finished or undone before the query starts. */
  def unfinishedRescale(session: SparkSession): Option[RescaleRefused] =
    CheckpointTools.using(session, logs.location)(new UnfinishedRescale(_).refusal(batch))

  /** Gives the state another number of partitions before the next batch, or finishes a rescale to
    * this number that was begun. Does nothing if the state has the number already.
    *
    * @return
    *   whether it did anything
    * @throws io.keyfold.errors.StoreError
    *   if it is refused, for example because a run of the query is active here; nothing is changed
    *   then
    */
  def rescale(session: SparkSession, to: Int): Boolean = {
    val isDue = partitions.exists(_ != to) || unfinishedRescale(session).nonEmpty
    val does = isDue && logs.hasState
    if (does) {
      log.info(s"Rescaling ${logs.location} from ${partitions.getOrElse("?")} to $to partitions")
      val done = AdminApi.applyTo(session, logs.location, to)
      log.info(
        s"Rescaled ${logs.location} from ${done.from} to $to partitions, as batch " +
          s"${done.batch}; its first loads count as keyfoldRescaledLoads"
      )
    }
    does
  }
}

private[start] object LastBatch {
  private val log = LoggerFactory.getLogger(classOf[LastBatch])

  /** None if there is none.
    *
    * @throws io.keyfold.errors.Invalid
    *   if Spark could not read what it starts with: the newest entries of its logs, and the offsets
    *   of the batch before
    */
  def of(logs: CheckpointLogs): Option[LastBatch] = {
    val (begun, committed) = (logs.lastBegun, logs.lastCommitted)
    for (batch <- begun) {
      if (!logs.canStartAfter(batch)) throw lost(logs, offsets(logs, batch - 1))
      if (!committed.contains(batch)) logs.settings(batch)
      // Spark would go on with the ids of an earlier batch.
      if (committed.exists(it => it < batch - 1 && logs.formatOf(it) == 2))
        throw lost(logs, s"${logs.location}/commits/${batch - 1}")
    }
    committed.map { batch =>
      val settings = logs.settings(batch).getOrElse(throw lost(logs, offsets(logs, batch)))
      logs.hasCommitted(batch)
      LastBatch(logs, batch, settings.getOrElse(CheckpointLogs.ProviderKey, ""))
    }
  }

  private def offsets(logs: CheckpointLogs, batch: Long) = s"${logs.location}/offsets/$batch"

  private def lost(logs: CheckpointLogs, file: String) = new Invalid(
    "KEYFOLD_CHECKPOINT_DAMAGED",
    s"The file $file, which Spark needs to start, is lost. The query was not started. Restore it " +
      s"from a copy. `${Command.fsck(logs.location)}` says how the query goes on without it."
  )
}

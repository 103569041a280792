package io.keyfold.spark.start

import io.keyfold.spark.admin.AdminApi
import org.apache.spark.sql.SparkSession
import org.slf4j.LoggerFactory

/** Gives the state of a query the number of partitions that is set for it, before its next batch.
  */
private[start] final class RescaleAtStart(session: SparkSession) {
  import RescaleAtStart._

  /** Rescales, or finishes a rescale to this number that was begun. Does nothing if the state has
    * the number already.
    *
    * @return
    *   whether it did anything
    * @throws io.keyfold.errors.StoreError
    *   if it is refused, for example because a run of the query is active here; nothing is changed
    *   then
    */
  def run(last: LastBatch, to: Int): Boolean = {
    val isDue =
      last.partitions.exists(_ != to) || last.unfinishedRescale(session).nonEmpty
    if (isDue && last.logs.hasState) {
      val location = last.logs.location
      log.info(s"Rescaling $location from ${last.partitions.getOrElse("?")} to $to partitions")
      val done = AdminApi.applyTo(session, location, to)
      log.info(
        s"Rescaled $location from ${done.from} to $to partitions, as batch " +
          s"${done.batch}; its first loads count as keyfoldRescaledLoads"
      )
      true
    } else false
  }
}

private object RescaleAtStart {
  private val log = LoggerFactory.getLogger(classOf[RescaleAtStart])
}

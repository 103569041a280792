package org.apache.spark.sql.keyfold

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.streaming.WriteToStream

/** A streaming query that is about to start. Spark analyses its plan before it reads the logs of
  * the checkpoint, and before it looks whether another run of the query is active.
  *
  * @param checkpoint
  *   location of its checkpoint
  * @param fileSink
  *   the folder that its file sink writes to; None if it has another sink
  */
final case class StartedQuery(checkpoint: String, fileSink: Option[String])

object StartedQuery {

  /** How a file sink shows its folder, which it keeps to itself. */
  private val FileSink = """FileSink\[(.*)\]""".r

  def unapply(plan: LogicalPlan): Option[StartedQuery] = plan match {
    case write: WriteToStream =>
      val folder = Option(write.sink.toString).collect { case FileSink(path) => path }
      Some(StartedQuery(write.resolvedCheckpointLocation, folder))
    case _ => None
  }
}

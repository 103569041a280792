package io.keyfold.spark.plan

import org.apache.spark.sql.catalyst.plans.logical.{Join, LogicalPlan}
import org.apache.spark.sql.catalyst.streaming.WriteToStream
import org.apache.spark.sql.execution.streaming.ManifestFileCommitProtocol
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.keyfold.SparkPrivate

/** A streaming query that is about to start. Spark analyses its plan before it reads the logs of
  * the checkpoint, and before it looks whether another run of the query is active.
  *
  * @param checkpoint
  *   location of its checkpoint
  * @param fileSink
  *   the folder that its file sink writes to; None if it has another sink
  * @param isStateful
  *   whether it needs a state store
  */
final case class StartedQuery(checkpoint: String, fileSink: Option[String], isStateful: Boolean)

object StartedQuery {

  /** How a file sink shows its folder, which it keeps to itself. */
  private val FileSink = """FileSink\[(.*)\]""".r

  /** By name, since no line of Spark has all of them. */
  private val Stateful = Set(
    "Aggregate",
    "Deduplicate",
    "DeduplicateWithinWatermark",
    "Distinct",
    "FlatMapGroupsInPandasWithState",
    "FlatMapGroupsWithState",
    "GlobalLimit",
    "TransformWithState",
    "TransformWithStateInPandas",
    "TransformWithStateInPySpark"
  )

  def unapply(plan: LogicalPlan): Option[StartedQuery] = plan match {
    case write: WriteToStream =>
      val folder = Option(write.sink.toString).collect { case FileSink(path) if hasLog => path }
      Some(StartedQuery(write.resolvedCheckpointLocation, folder, isStateful(write.inputQuery)))
    case _ => None
  }

  /** Another commit protocol makes no entries in a file sink's log. */
  private def hasLog = SparkPrivate
    .classNamed(SQLConf.get.streamingFileCommitProtocolClass)
    .forall(classOf[ManifestFileCommitProtocol].isAssignableFrom(_))

  private[spark] def isStateful(query: LogicalPlan): Boolean = query.exists(isStatefulOperator)

  private[spark] def isStatefulOperator(plan: LogicalPlan) = plan match {
    case join: Join => join.left.isStreaming && join.right.isStreaming
    case other      => other.isStreaming && Stateful(other.nodeName)
  }
}

package io.keyfold.spark.plan

import java.util.{Collections, Map => JMap, Set => JSet}

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.streaming.WriteToStream
import org.apache.spark.sql.connector.catalog.{SupportsWrite, TableCapability}
import org.apache.spark.sql.connector.read.streaming.ReportsSinkMetrics
import org.apache.spark.sql.execution.streaming.Sink
import org.apache.spark.sql.execution.streaming.sources.ForeachBatchSink
import org.apache.spark.sql.keyfold.SparkShim
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.{DataFrame, Row}
import org.slf4j.LoggerFactory

/** Runs each batch of a stateful query for its state, whatever the query's sink reads of it.
  *
  * A sink need not read a batch that it has already: the driver may have died after the sink's
  * commit and before the query's. The file sink, Delta's and an idempotent `foreachBatch` return at
  * once then, and no task runs. Or a function looks at a few rows, or at none. Under checkpoint
  * format 2 each partition has to report the id of its new state: without it Spark ends the query
  * with a failed assertion, at this start and at each later one.
  *
  * So each sink of Spark's first interface is given a companion, which reads the batch after it if
  * an id is missing. (A sink of the second interface is always run.) Spark reads watermarks and
  * metrics of the batch after that, so they are those of a batch that ran.
  */
object ReadsEveryBatch extends Rule[LogicalPlan] {
  private val logger = LoggerFactory.getLogger(getClass)

  override def apply(plan: LogicalPlan): LogicalPlan = plan match {
    case write: WriteToStream if StartedQuery.isStateful(write.inputQuery) =>
      write.sink match {
        case _: ReadingSink | _: SupportsWrite => plan
        case functions: ForeachBatchSink[_] => write.copy(sink = new ReadingForeachBatch(functions))
        case sink: Sink                     => write.copy(sink = new ReadingAnySink(sink))
        case _                              => plan
      }
    case _ => plan
  }

  /** A sink and the reader of what it leaves. Spark knows sinks by their names. */
  private[spark] trait ReadingSink extends Sink with ReportsSinkMetrics {
    protected def sink: Sink

    override def addBatch(batch: Long, rows: DataFrame): Unit = {
      sink.addBatch(batch, rows)
      readRest(batch, rows)
    }

    override def name: String = sink.name
    override def schema: StructType = sink.schema
    override def capabilities: JSet[TableCapability] = sink.capabilities
    override def toString: String = sink.toString
    override def metrics: JMap[String, String] = sink match {
      case it: ReportsSinkMetrics => it.metrics
      case _                      => Collections.emptyMap
    }
  }

  private final class ReadingAnySink(override protected val sink: Sink) extends ReadingSink

  /** Of the class by which Spark decides whether it looks for partitions without a commit. */
  private final class ReadingForeachBatch(override protected val sink: Sink)
      extends ForeachBatchSink[Row]((_, _) => (), null)
      with ReadingSink

  private def readRest(batch: Long, rows: DataFrame): Unit = {
    val execution = rows.queryExecution
    val unread = execution.executedPlan.collect {
      case operator: SparkShim.StateStoreWriter if lacksIds(operator) => operator.shortName
    }
    if (unread.nonEmpty) {
      logger.info(
        "The sink did not read all of batch {}; running it for {}",
        batch,
        unread.mkString(", ")
      )
      execution.toRdd.foreachPartition(_.foreach(_ => ()))
    }
  }

  /** By the rule of Spark's assertion: an operator in one task has one id. */
  private def lacksIds(operator: SparkShim.StateStoreWriter) =
    SparkShim.StatefulOperatorStateInfo.enableStateStoreCheckpointIds(operator.conf) && {
      val isOneTask = operator.outputPartitioning.numPartitions == 1
      val needed = if (isOneTask) 1 else operator.stateInfo.fold(0)(_.numPartitions)
      val reported = operator.checkpointInfoAccumulator.value.asScala.map(_.partitionId).distinct
      reported.size < needed
    }
}

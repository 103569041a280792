package io.keyfold.spark.metrics

import scala.collection.immutable.ListMap

import com.codahale.metrics.MetricRegistry
import org.apache.spark.scheduler.{SparkListener, SparkListenerEvent, SparkListenerExecutorRemoved}
import org.apache.spark.sql.streaming.StreamingQueryListener.{
  QueryIdleEvent,
  QueryProgressEvent,
  QueryStartedEvent,
  QueryTerminatedEvent
}

/** The executors and the running queries of an application, with their gauges on the driver.
  * Queries of all sessions send their events to the context's listeners.
  */
private[metrics] final class Application(registry: MetricRegistry) extends SparkListener {
  private var reports = ListMap.empty[String, ExecutorReport]
  private var gaugesOf = Map.empty[String, Gauges]

  /** By the id of the run. */
  private var running = ListMap.empty[String, RunningQuery]

  def executors: Seq[ExecutorReport] = synchronized(reports.values.toSeq)

  def queries: Seq[QueryState] = synchronized {
    running.values.toSeq.flatMap { it =>
      it.last.map(QueryState(it.label, _, it.stores))
    }
  }

  def add(report: ExecutorReport): Unit = synchronized {
    val id = report.executor
    reports = reports.updated(id, report)
    gaugesOf = gaugesOf.updated(id, gaugesOf.getOrElse(id, new Gauges(registry, s"executor.$id.")))
    gaugesOf(id).set(report.metrics)
    running.foreach { case (run, query) => query.add(id, report.stores.filter(_.run == run)) }
  }

  override def onExecutorRemoved(removed: SparkListenerExecutorRemoved): Unit = synchronized {
    gaugesOf.get(removed.executorId).foreach(_.set(Map.empty))
    gaugesOf -= removed.executorId
    reports -= removed.executorId
    running.values.foreach(_.add(removed.executorId, Nil))
  }

  override def onOtherEvent(event: SparkListenerEvent): Unit = event match {
    case it: QueryStartedEvent =>
      synchronized {
        val label = labelOf(it)
        running = running.updated(it.runId.toString, new RunningQuery(label, registry))
      }
    case it: QueryProgressEvent =>
      synchronized {
        running.get(it.progress.runId.toString).foreach(_.add(it.progress))
      }
    case it: QueryIdleEvent =>
      synchronized {
        running.get(it.runId.toString).foreach(_.idle(it.timestamp))
      }
    case it: QueryTerminatedEvent =>
      synchronized {
        running.get(it.runId.toString).foreach(_.remove())
        running -= it.runId.toString
      }
    case _ => ()
  }

  /** Letters that the name of a gauge may have. Sessions may run queries of the same name. */
  private def labelOf(started: QueryStartedEvent) = {
    val taken = running.values.map(_.label).toSet
    val id = started.id.toString
    Option(started.name)
      .map(_.replaceAll("[^A-Za-z0-9]+", "_"))
      .filterNot(taken)
      .getOrElse(id)
  }
}

/** A query at one moment.
  *
  * @param stores
  *   with the executors that have them
  */
private[metrics] final case class QueryState(
    label: String,
    last: org.apache.spark.sql.streaming.StreamingQueryProgress,
    stores: Seq[(String, ReportedStore)]
)

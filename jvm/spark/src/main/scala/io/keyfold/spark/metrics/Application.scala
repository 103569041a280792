package io.keyfold.spark.metrics

import java.util.UUID

import scala.collection.immutable.ListMap

import com.codahale.metrics.MetricRegistry
import io.keyfold.spark.state.StoreStatus
import org.apache.spark.scheduler.{SparkListener, SparkListenerEvent, SparkListenerExecutorRemoved}
import org.apache.spark.sql.streaming.StreamingQueryProgress
import org.apache.spark.sql.streaming.StreamingQueryListener._

/** The executors and the running queries of an application, with their gauges on the driver.
  * Queries of all sessions send their events to the context's listeners.
  */
private[metrics] final class Application(registry: MetricRegistry) extends SparkListener {
  import Application.MostEnded

  private var reports = ListMap.empty[String, ExecutorReport]
  private var gaugesOf = Map.empty[String, Gauges]

  /** Executors that have gone; one may still report. */
  private var removed = Set.empty[String]

  /** By the id of the run. */
  private var running = ListMap.empty[UUID, RunningQuery]

  /** The one that ended last is the first. */
  private var ended = Seq.empty[RunningQuery]

  def executors: Seq[ExecutorReport] = synchronized(reports.values.toSeq)

  def queries: Seq[QueryState] = synchronized {
    running.values.toSeq.flatMap { it =>
      it.last.map(QueryState(it.label, _, it.stores))
    }
  }

  def add(report: ExecutorReport): Unit = synchronized {
    if (!removed(report.executor)) set(report)
  }

  private def set(report: ExecutorReport): Unit = {
    val id = report.executor
    reports = reports.updated(id, report)
    gaugesOf = gaugesOf.updated(id, gaugesOf.getOrElse(id, new Gauges(registry, s"executor.$id.")))
    gaugesOf(id).set(report.metrics)
    running.foreach { case (run, query) =>
      query.add(id, report.stores.filter(_.run == run.toString))
    }
  }

  override def onExecutorRemoved(event: SparkListenerExecutorRemoved): Unit = synchronized {
    removed += event.executorId
    gaugesOf.get(event.executorId).foreach(_.set(Map.empty))
    gaugesOf -= event.executorId
    reports -= event.executorId
    running.values.foreach(_.add(event.executorId, Nil))
  }

  override def onOtherEvent(event: SparkListenerEvent): Unit = synchronized {
    event match {
      case it: QueryStartedEvent    => start(it)
      case it: QueryProgressEvent   => running.get(it.progress.runId).foreach(_.add(it.progress))
      case it: QueryIdleEvent       => running.get(it.runId).foreach(_.idle(it.timestamp))
      case it: QueryTerminatedEvent => end(it.runId)
      case _                        => ()
    }
  }

  private def start(started: QueryStartedEvent): Unit = {
    val id = started.id.toString
    // Its last run, whose end may not have been told yet.
    running.collect { case (run, query) if query.id == id => run }.foreach(end)
    val label = labelOf(started)
    val (gone, kept) = ended.partition(it => it.id == id || it.label == label)
    gone.foreach(_.remove())
    ended = kept
    running = running.updated(started.runId, new RunningQuery(id, label, registry))
  }

  private def end(run: UUID): Unit = running.get(run).foreach { query =>
    query.end()
    running -= run
    val (kept, gone) = (query +: ended).splitAt(MostEnded)
    gone.foreach(_.remove())
    ended = kept
  }

  /** Letters that the name of a gauge may have. Sessions may run queries of the same name. */
  private def labelOf(started: QueryStartedEvent) = {
    val taken = running.values.map(_.label).toSet
    Option(started.name)
      .filter(_.exists(it => it < 128 && it.isLetterOrDigit))
      .map(_.replaceAll("[^A-Za-z0-9]+", "_"))
      .filterNot(taken)
      .getOrElse(started.id.toString)
  }
}

private object Application {

  /** Queries that have ended and keep their gauges. */
  private val MostEnded = 10
}

/** A query at one moment.
  *
  * @param stores
  *   with the executors that have them
  */
private[metrics] final case class QueryState(
    label: String,
    last: StreamingQueryProgress,
    stores: Seq[(String, StoreStatus)]
)

package io.keyfold.spark.metrics

import com.codahale.metrics.MetricRegistry
import io.keyfold.spark.state.StoreStatus
import org.apache.spark.sql.streaming.{StateOperatorProgress, StreamingQueryProgress}

/** A run of a query: its last batch, its stores, and the gauges of both, if it has state in
  * Keyfold. Threads: one at a time.
  *
  * @param id
  *   of the query
  * @param label
  *   its name, or its id if it has none, as it stands in the names of gauges
  */
private[metrics] final class RunningQuery(
    val id: String,
    val label: String,
    registry: MetricRegistry
) {
  import RunningQuery._

  private val ofQuery = new Totals(QueryMetrics.ofQuery)
  private val gauges = new Gauges(registry, s"query.$label.")
  private var operators = Vector.empty[RunningOperator]

  /** Newest state of each store, by operator, partition and name. */
  private var newest = Map.empty[(Long, Int, String), (String, StoreStatus)]

  /** What the last batch was; none before the first. */
  def last: Option[StreamingQueryProgress] = progress
  private var progress = Option.empty[StreamingQueryProgress]

  /** Each store with the executor that has it. */
  def stores: Seq[(String, StoreStatus)] = newest.values.toSeq

  def add(batch: StreamingQueryProgress): Unit = {
    val states = batch.stateOperators.toVector
    if (states.exists(isOfKeyfold)) {
      progress = Some(batch)
      gauges.set(ofQuery.add(batch))
      while (operators.length < states.length) {
        operators :+= new RunningOperator(s"query.$label.operator.${operators.length}.", registry)
      }
      operators.zip(states).foreach { case (operator, state) => operator.add(state) }
    }
  }

  /** @param time
    *   when Spark said that there is no input
    */
  def idle(time: String): Unit =
    if (progress.nonEmpty) {
      gauges.set(ofQuery.values.updated(QueryMetrics.Seen, QueryMetrics.secondsOf(time)))
    }

  /** @param executor
    *   id of the executor that reports them
    */
  def add(executor: String, reported: Seq[StoreStatus]): Unit = {
    val known = newest.filter { case (_, (of, _)) => of != executor }
    newest = reported.foldLeft(known) { (stores, it) =>
      val key = (it.operator, it.partition, it.store)
      // A store that has moved stays loaded for a while where it was.
      if (stores.get(key).exists(_._2.version > it.version)) stores
      else stores.updated(key, executor -> it)
    }
    val stores = newest.values.map(_._2).toSeq.groupBy(_.operator)
    for ((operator, number) <- operators.zipWithIndex) {
      operator.add(stores.getOrElse(number.toLong, Nil))
    }
  }

  /** It runs no more: what was of its last batch stays, for who looks at metrics seldom. */
  def end(): Unit = {
    newest = Map.empty
    operators.foreach(_.add(Nil))
    gauges.set(ofQuery.values - QueryMetrics.Seen)
  }

  /** Takes its gauges away. */
  def remove(): Unit = {
    gauges.set(Map.empty)
    operators.foreach(_.remove())
  }
}

private object RunningQuery {

  /** Partitions of an operator with a gauge of their own; those with the most rows. */
  private val MostPartitions = 5

  private def isOfKeyfold(operator: StateOperatorProgress) =
    operator.customMetrics.containsKey("keyfoldStateBytes")

  /** The values of metrics, with the sums of what is a total. */
  private final class Totals[T](metrics: Seq[Metric[T]]) {
    var values: Map[String, Double] = Map.empty

    def add(now: T): Map[String, Double] = {
      values = metrics.map { it =>
        it.name -> (it.of(now) + (if (it.isTotal) values.getOrElse(it.name, 0.0) else 0))
      }.toMap
      values
    }
  }

  private final class RunningOperator(prefix: String, registry: MetricRegistry) {
    private val totals = new Totals(QueryMetrics.ofOperator)
    private val batches = new Gauges(registry, prefix)
    private val partitions = new Gauges(registry, prefix)

    def add(progress: StateOperatorProgress): Unit = batches.set(totals.add(progress))

    def add(stores: Seq[StoreStatus]): Unit = {
      val ofAll = if (stores.isEmpty) Nil else QueryMetrics.ofStores
      val heaviest = QueryMetrics.rowsOf(stores).toSeq.sortBy(-_._2).take(MostPartitions)
      partitions.set(
        ofAll.map(it => it.name -> it.of(stores)).toMap ++
          heaviest.map { case (partition, rows) => s"partition.$partition.rows" -> rows }
      )
    }

    def remove(): Unit = {
      batches.set(Map.empty)
      partitions.set(Map.empty)
    }
  }
}

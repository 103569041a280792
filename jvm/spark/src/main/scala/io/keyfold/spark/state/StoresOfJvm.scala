package io.keyfold.spark.state

import java.util.concurrent.ConcurrentHashMap
import java.util.concurrent.atomic.LongAdder

import scala.jdk.CollectionConverters._

/** The stores that tasks of this JVM have written and that are still loaded, and what all stores
  * have done since the JVM started. Threads: any.
  */
private[spark] object StoresOfJvm {
  private val open = new ConcurrentHashMap[KeyfoldMetrics, () => StoreStatus]
  private val sums = KeyfoldMetrics.countedNames.map(_ -> new LongAdder).toMap

  /** Durations of commits and of loads. */
  val commits = new Durations
  val loads = new Durations

  def stores: Seq[StoreStatus] = open.values.asScala.map(_()).toSeq

  /** By name of the metric of Spark's progress. */
  def totals: Map[String, Long] = sums.map { case (name, sum) => name -> sum.sum }

  /** @param status
    *   called for what the store is
    * @param counted
    *   what it has done since its last report
    */
  private[state] def report(
      of: KeyfoldMetrics,
      status: () => StoreStatus,
      commitMs: Long,
      counted: Map[String, Long]
  ): Unit = {
    open.put(of, status)
    counted.foreach { case (name, more) => sums(name).add(more) }
    commits.add(commitMs)
    // One as a rule.
    val loaded = counted(KeyfoldMetrics.Loads)
    for (_ <- 1L to loaded) loads.add(counted(KeyfoldMetrics.LoadMs) / loaded)
  }

  private[state] def closed(store: KeyfoldMetrics): Unit = {
    open.remove(store)
    ()
  }
}

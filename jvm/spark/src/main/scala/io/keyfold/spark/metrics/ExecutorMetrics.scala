package io.keyfold.spark.metrics

import io.keyfold.mem.page.PagePool
import io.keyfold.spark.state.{Durations, StateMemory, StoreStatus, StoresOfJvm}

/** The metrics of an executor. */
private[spark] object ExecutorMetrics {

  /** What an executor is at one moment.
    *
    * @param totals
    *   what its stores have done since it started, by the names of Spark's progress
    */
  final class Now(val stores: Seq[StoreStatus], val totals: Map[String, Long])

  def now: Now = new Now(StoresOfJvm.stores, StoresOfJvm.totals)

  val all: Seq[Metric[Now]] = Seq[Metric[Now]](
    Metric("memory_budget_bytes", "off-heap memory that state may take", _ => budget),
    Metric(
      "memory_used_bytes",
      "off-heap memory that state has taken",
      _ => pool(_.allocatedBytes)
    ),
    Metric(
      "memory_free_bytes",
      "memory and local files taken that no row uses",
      _ => pool(_.freeBytes)
    ),
    sum("spilled_bytes", "state in local files, beyond the budget", _.spilledBytes),
    Metric("stores", "stores that are loaded", _.stores.length.toDouble),
    sum("state_rows", "rows of the loaded stores", _.rows),
    sum("state_bytes", "bytes of keys and values of the loaded stores", _.stateBytes)
  ) ++
    durations("commit", "of a store", StoresOfJvm.commits) ++
    durations("load", "of a store from files", StoresOfJvm.loads) ++
    Seq(
      total("memory_hits_total", "versions found in memory", "MemoryHits"),
      total("snapshot_fallbacks_total", "snapshots replaced by other files", "SnapshotFallbacks"),
      total("files_written_total", "state files written", "Deltas", "Snapshots", "Merges"),
      total(
        "written_bytes_total",
        "bytes of state files written",
        "DeltaBytes",
        "SnapshotBytes",
        "MergedBytes"
      ),
      total("files_deleted_total", "state files deleted by retention", "FilesDeleted"),
      total("file_operations_total", "file operations, with retries", "FileOperations"),
      total("file_retries_total", "file operations repeated after a failure", "FileRetries")
    )

  private def pool(of: PagePool => Long) =
    StateMemory.current.fold(0.0) { case (pool, _) => of(pool).toDouble }
  private def budget = StateMemory.current.fold(0.0) { case (_, bytes) => bytes.toDouble }

  private def sum(name: String, doc: String, of: StoreStatus => Long) =
    Metric[Now](name, doc, _.stores.map(of).sum.toDouble)

  private def total(name: String, doc: String, names: String*) =
    Metric[Now](name, doc, now => names.map(it => now.totals(s"keyfold$it")).sum.toDouble)

  private def durations(what: String, of: String, its: Durations) = Seq[Metric[Now]](
    Metric(s"${what}s_total", s"${what}s $of", _ => its.count.toDouble),
    Metric(s"${what}_seconds_total", s"time of all ${what}s", _ => its.totalMs / 1000.0),
    Metric(
      s"${what}_seconds_p50",
      s"half of the last ${what}s were as fast",
      _ => its.recent.getMedian / 1000
    ),
    Metric(
      s"${what}_seconds_p99",
      s"99 of 100 of the last ${what}s were as fast",
      _ => its.recent.get99thPercentile / 1000
    ),
    Metric(
      s"${what}_seconds_max",
      s"the longest of the last ${what}s",
      _ => its.recent.getMax / 1000.0
    )
  )
}

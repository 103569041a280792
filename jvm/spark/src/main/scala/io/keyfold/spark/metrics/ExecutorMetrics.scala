package io.keyfold.spark.metrics

import com.codahale.metrics.Snapshot
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
    pool("memory_used_bytes", "off-heap memory that state has taken", _.allocatedBytes),
    pool("memory_free_bytes", "memory and local files taken that no row uses", _.freeBytes),
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

  private def pool(name: String, doc: String, of: PagePool => Long) =
    Metric[Now](name, doc, _ => StateMemory.current.fold(0.0) { case (it, _) => of(it).toDouble })

  private def budget = StateMemory.current.fold(0.0) { case (_, bytes) => bytes.toDouble }

  private def sum(name: String, doc: String, of: StoreStatus => Long) =
    Metric[Now](name, doc, _.stores.map(of).sum.toDouble)

  private def total(name: String, doc: String, names: String*) =
    Metric[Now](name, doc, now => names.map(it => now.totals(s"keyfold$it")).sum.toDouble)

  private def durations(what: String, of: String, its: Durations) = {
    def last(name: String, doc: String)(ms: Snapshot => Double) =
      Metric[Now](s"${what}_seconds_$name", doc, _ => ms(its.recent) / 1000)
    Seq(
      Metric[Now](s"${what}s_total", s"${what}s $of", _ => its.count.toDouble),
      Metric[Now](s"${what}_seconds_total", s"time of all ${what}s", _ => its.totalMs / 1000.0),
      last("p50", s"half of the last ${what}s were as fast")(_.getMedian),
      last("p99", s"99 of 100 of the last ${what}s were as fast")(_.get99thPercentile),
      last("max", s"the longest of the last ${what}s")(_.getMax.toDouble)
    )
  }
}

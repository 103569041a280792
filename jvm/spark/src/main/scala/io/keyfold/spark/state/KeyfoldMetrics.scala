package io.keyfold.spark.state

import java.util.concurrent.atomic.{AtomicLong, LongAdder}

import io.keyfold.mem.arena.MemoryUse
import io.keyfold.model.Family
import io.keyfold.store.{StoreTxn, VersionedStore}
import io.keyfold.store.file.StoreCounters
import org.apache.spark.sql.execution.streaming.state._
import org.apache.spark.sql.keyfold.SparkShim

/** Keyfold's custom metrics. Counts cover the time since the store's last report, including
  * maintenance; sizes are current. All are per store, because Spark adds up the stores.
  */
object KeyfoldMetrics {
  private val counted = Seq[(StateStoreCustomMetric, StoreCounters => LongAdder)](
    sum("keyfoldLoads", "versions loaded from files") -> (_.loads),
    StateStoreCustomTimingMetric("keyfoldLoadMs", "Keyfold: time to load versions from files") ->
      (_.loadMs),
    sum("keyfoldRescaledLoads", "versions loaded from the files of another number of partitions") ->
      (_.rescaledLoads),
    sum("keyfoldMemoryHits", "versions found in memory") -> (_.memoryHits),
    sum(
      "keyfoldSnapshotFallbacks",
      "snapshots and merged deltas that could not be used and were replaced by other files"
    ) -> (_.snapshotFallbacks),
    sum("keyfoldDeltas", "delta files written") -> (_.deltas),
    size("keyfoldDeltaBytes", "bytes of delta files written") -> (_.deltaBytes),
    sum("keyfoldSnapshots", "snapshot files written") -> (_.snapshots),
    size("keyfoldSnapshotBytes", "bytes of snapshot files written") -> (_.snapshotBytes),
    sum("keyfoldMerges", "merged deltas written") -> (_.merges),
    size("keyfoldMergedBytes", "bytes of merged deltas written") -> (_.mergedBytes),
    sum("keyfoldFileRetries", "file operations retried after a temporary failure") -> (_.retries),
    sum("keyfoldFilesDeleted", "files deleted by retention") -> (_.filesDeleted)
  )

  /** What a store has when it reports. */
  private final class Now(val memory: MemoryUse, val families: Seq[Family], val forced: Boolean) {
    val (internal, external) = families.partition(_.spec.internal)
  }

  private val current = Seq[(StateStoreCustomMetric, Now => Long)](
    currentSize("keyfoldOffHeapBytes", "bytes of memory held off the heap") -> (_.memory.offHeap),
    currentSize("keyfoldSpilledBytes", "bytes in local files, of state beyond the memory budget") ->
      (_.memory.mapped),
    currentSize(
      "keyfoldFreeBytes",
      "bytes held, off the heap or mapped, that neither rows nor indexes use"
    ) -> (_.memory.free),
    currentSize("keyfoldStateBytes", "bytes of keys and values of the version") ->
      (_.families.map(_.bytes).sum),
    // These have the names and meanings of metrics of Spark's RocksDB provider.
    currentCount("rocksdbNumInternalColFamiliesKeys", "rows of internal column families") ->
      (_.internal.map(_.keys).sum),
    currentCount("rocksdbNumExternalColumnFamilies", "column families") ->
      (_.external.length.toLong),
    currentCount("rocksdbNumInternalColumnFamilies", "internal column families") ->
      (_.internal.length.toLong),
    sum("forceSnapshotCount", "stores that had a forced snapshot") ->
      (now => if (now.forced) 1L else 0L)
  )

  val custom: Seq[StateStoreCustomMetric] = counted.map(_._1) ++ current.map(_._1)

  private def sum(name: String, what: String) = StateStoreCustomSumMetric(name, s"Keyfold: $what")
  private def size(name: String, what: String) = StateStoreCustomSizeMetric(name, s"Keyfold: $what")
  private def currentCount(name: String, what: String) =
    SparkShim.currentCount(name, s"Keyfold: $what")
  private def currentSize(name: String, what: String) =
    SparkShim.currentSize(name, s"Keyfold: $what")
}

/** The metrics of one store. */
private[spark] final class KeyfoldMetrics(id: StateStoreId, store: VersionedStore) {
  import KeyfoldMetrics._

  /** Newest version known to have a durable snapshot; -1 if none. */
  val lastSnapshotVersion = new AtomicLong(-1)
  private var reported = Map.empty[StateStoreCustomMetric, Long]

  def of(txn: StoreTxn, forcedSnapshot: Boolean): StateStoreMetrics = {
    val now = new Now(store.memory, txn.families, forcedSnapshot)
    SparkShim.metrics(
      keys = now.external.map(_.keys).sum,
      bytes = now.memory.total,
      custom = sinceLastReport() ++ current.map { case (metric, of) => metric -> of(now) },
      id,
      snapshot = lastSnapshotVersion.get
    )
  }

  private def sinceLastReport(): Map[StateStoreCustomMetric, Long] = synchronized {
    val now = counted.map { case (metric, of) => metric -> of(store.counters).sum }.toMap
    val before = reported
    reported = now
    now.map { case (metric, total) => metric -> (total - before.getOrElse(metric, 0L)) }
  }
}

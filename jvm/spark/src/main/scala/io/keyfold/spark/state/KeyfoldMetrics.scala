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
  val Loads = "keyfoldLoads"
  val LoadMs = "keyfoldLoadMs"

  private val counted = Seq[(StateStoreCustomMetric, StoreCounters => LongAdder)](
    sum(Loads, "versions loaded from files") -> (_.loads),
    StateStoreCustomTimingMetric(LoadMs, "Keyfold: time to load versions from files") ->
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
    sum("keyfoldFileOperations", "file operations: list, look for, open, read, write, delete") ->
      (_.operations),
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

  /** Names of the metrics that add up over batches. */
  val countedNames: Seq[String] = counted.map(_._1.name)

  private def sum(name: String, what: String) = StateStoreCustomSumMetric(name, s"Keyfold: $what")
  private def size(name: String, what: String) = StateStoreCustomSizeMetric(name, s"Keyfold: $what")
  private def currentCount(name: String, what: String) =
    SparkShim.currentCount(name, s"Keyfold: $what")
  private def currentSize(name: String, what: String) =
    SparkShim.currentSize(name, s"Keyfold: $what")
}

/** The metrics of one store.
  *
  * @param run
  *   id of the query's run
  */
private[spark] final class KeyfoldMetrics(id: StateStoreId, run: String, store: VersionedStore) {
  import KeyfoldMetrics._

  /** Newest version known to have a durable snapshot; -1 if none. */
  val lastSnapshotVersion = new AtomicLong(-1)
  @volatile private var isClosed = false
  private var reported = Map.empty[StateStoreCustomMetric, Long]

  /** @param committed
    *   the version of the transaction; None if it was not committed
    */
  def of(
      txn: StoreTxn,
      forcedSnapshot: Boolean,
      committed: Option[CommittedVersion]
  ): StateStoreMetrics = {
    val now = new Now(store.memory, txn.families, forcedSnapshot)
    val counted = sinceLastReport()
    committed.foreach { it =>
      val named = counted.map { case (metric, more) => metric.name -> more }
      StoresOfJvm.report(this, statusOf(it, now), it.ms, named)
      // A task may commit while Spark unloads its store.
      if (isClosed) StoresOfJvm.closed(this)
    }
    SparkShim.metrics(
      keys = now.external.map(_.keys).sum,
      bytes = now.memory.total,
      custom = counted ++ current.map { case (metric, of) => metric -> of(now) },
      id,
      snapshot = lastSnapshotVersion.get
    )
  }

  private def statusOf(committed: CommittedVersion, now: Now): () => StoreStatus = {
    val status = StoreStatus(
      run,
      id.operatorId,
      id.partitionId,
      id.storeName,
      committed.version.version,
      rows = now.external.map(_.keys).sum,
      unplacedRows = now.external.filter(_.spec.strays).map(_.keys).sum,
      stateBytes = now.families.map(_.bytes).sum,
      memoryBytes = now.memory.offHeap,
      spilledBytes = now.memory.mapped,
      committed.ms,
      filesToLoad = 0
    )
    () => status.copy(filesToLoad = store.filesToLoad(committed.version))
  }

  /** To be called when the store is closed. */
  def close(): Unit = {
    isClosed = true
    StoresOfJvm.closed(this)
  }

  private def sinceLastReport(): Map[StateStoreCustomMetric, Long] = synchronized {
    val now = counted.map { case (metric, of) => metric -> of(store.counters).sum }.toMap
    val before = reported
    reported = now
    now.map { case (metric, total) => metric -> (total - before.getOrElse(metric, 0L)) }
  }
}

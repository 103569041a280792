package io.keyfold.spark

import io.keyfold.store.StoreTxn
import org.apache.spark.TaskContext
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.execution.streaming.state._
import org.apache.spark.sql.keyfold.SparkPrivate
import org.apache.spark.sql.types.StructType

/** A version being written by one task; given up when the task ends without a commit. Rows handed
  * out stay until then.
  *
  * @param baseId
  *   unique id of the version it builds on, as Spark passed it
  * @param newId
  *   unique id of this attempt; none under checkpoint format v1
  * @param onCommit
  *   told the new version once it is durable
  * @param currentMetrics
  *   metrics of the provider, for this store
  */
private final class KeyfoldStateStore(
    override val id: StateStoreId,
    txn: StoreTxn,
    schema: StoreSchema,
    baseId: Option[String],
    newId: Option[String],
    forceSnapshot: Boolean,
    onCommit: Long => Unit,
    currentMetrics: (StoreTxn, Boolean) => StateStoreMetrics
) extends StateStore
    with OneFamily {
  override protected val rows = new StoreRows(txn, schema)

  Option(TaskContext.get()).foreach(_.addTaskCompletionListener[Unit](_ => release()))

  override def version: Long = txn.base.version

  override def put(key: UnsafeRow, value: UnsafeRow, family: String): Unit = {
    requireDefault(family)
    require(value != null, "Cannot put a null value")
    rows.put(txn, key, value)
  }

  override def remove(key: UnsafeRow, family: String): Unit = {
    requireDefault(family)
    rows.remove(txn, key)
  }

  override def commit(): Long =
    try {
      val committed = txn.commit(newId.getOrElse(""), forceSnapshot).version
      onCommit(committed)
      committed
    } catch {
      case e: Throwable => throw SparkPrivate.cannotCommit(toString, e)
    }

  override def abort(): Unit = txn.abort()

  override def release(): Unit = txn.release()

  override def hasCommitted: Boolean = txn.isCommitted

  override def metrics: StateStoreMetrics = currentMetrics(txn, forceSnapshot)

  override def getStateStoreCheckpointInfo(): StateStoreCheckpointInfo =
    StateStoreCheckpointInfo(id.partitionId, version + 1, newId, baseId)

  override def createColFamilyIfAbsent(
      family: String,
      keySchema: StructType,
      valueSchema: StructType,
      spec: KeyStateEncoderSpec,
      useMultipleValuesPerKey: Boolean,
      isInternal: Boolean
  ): Unit =
    throw StateStoreErrors.multipleColumnFamiliesNotSupported(KeyfoldStateStoreProvider.Name)

  override def removeColFamilyIfExists(family: String): Boolean =
    throw StateStoreErrors.removingColumnFamiliesNotSupported(KeyfoldStateStoreProvider.Name)

  override def putList(key: UnsafeRow, values: Array[UnsafeRow], family: String): Unit =
    throw unsupported("putList")

  override def merge(key: UnsafeRow, value: UnsafeRow, family: String): Unit =
    throw unsupported("merge")

  override def mergeList(key: UnsafeRow, values: Array[UnsafeRow], family: String): Unit =
    throw unsupported("mergeList")

  override def deleteRange(begin: UnsafeRow, end: UnsafeRow, family: String): Unit =
    throw unsupported("deleteRange")

  override def toString: String = s"KeyfoldStateStore[$id, version ${version + 1}]"
}

package io.keyfold.spark.state

import io.keyfold.errors.Invalid
import io.keyfold.spark.checkpoint.{CheckpointPath, Command}
import io.keyfold.spark.partition.PartitionKey
import io.keyfold.store.StoreTxn
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.execution.streaming.state._
import org.apache.spark.sql.keyfold.{SparkPrivate, SparkShim}
import org.apache.spark.sql.types.StructType

/** A version being written by one task; aborted if the task ends without a commit. Returned rows
  * stay valid until the task ends.
  *
  * @param baseId
  *   unique id of the version it builds on, as Spark passed it
  * @param attemptId
  *   unique id of this attempt; none under checkpoint format v1
  * @param onCommit
  *   called with the new version once it is durable
  * @param currentMetrics
  *   metrics of the provider, for this store
  */
private[spark] final class KeyfoldStateStore(
    override val id: StateStoreId,
    txn: StoreTxn,
    override protected val schemas: FamilySchemas,
    baseId: Option[String],
    attemptId: Option[String],
    forceSnapshot: Boolean,
    onCommit: Long => Unit,
    currentMetrics: (StoreTxn, Boolean, Option[CommittedVersion]) => StateStoreMetrics
) extends SparkShim.WriteStore
    with FamilyReads {
  private var newId = attemptId
  private var written = Option.empty[CommittedVersion]

  override protected val families = new StoreFamilies(txn, schemas)

  override def version: Long = txn.base.version

  override def put(key: UnsafeRow, value: UnsafeRow, family: String): Unit = {
    require(value != null, "Cannot put a null value")
    families("put", family).put(txn, key, value)
  }

  // Without `override`: Spark 4.0 does not have it, nor `mergeList`.
  def putList(key: UnsafeRow, values: Array[UnsafeRow], family: String): Unit = {
    requireValues("put", values)
    families.multiValue("putList", family).putAll(txn, key, values)
  }

  override def merge(key: UnsafeRow, value: UnsafeRow, family: String): Unit = {
    require(value != null, "Cannot merge a null value")
    families.multiValue("merge", family).append(txn, key, value)
  }

  def mergeList(key: UnsafeRow, values: Array[UnsafeRow], family: String): Unit = {
    requireValues("merge", values)
    families.multiValue("mergeList", family).appendAll(txn, key, values, from = 0)
  }

  override def remove(key: UnsafeRow, family: String): Unit =
    families("remove", family).remove(txn, key)

  override def deleteRange(begin: UnsafeRow, end: UnsafeRow, family: String): Unit =
    families("deleteRange", family).removeRange(txn, begin, end)

  override def commit(): Long =
    try {
      val began = System.nanoTime()
      val committed = txn.commit(attemptId.getOrElse(""), forceSnapshot)
      written = Some(CommittedVersion(committed, (System.nanoTime() - began) / 1000000))
      newId = attemptId.map(_ => committed.id)
      onCommit(committed.version)
      committed.version
    } catch {
      case e: Throwable => throw SparkPrivate.cannotCommit(toString, e)
    }

  override def abort(): Unit = txn.abort()

  override def release(): Unit = txn.release()

  override def hasCommitted: Boolean = txn.isCommitted

  override def metrics: StateStoreMetrics = currentMetrics(txn, forceSnapshot, written)

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
    registerColFamily(family, keySchema, valueSchema, spec, useMultipleValuesPerKey, isInternal)

  override protected def declare(schema: FamilySchema): Unit = {
    create(schema)
    schemas.ttlIndexOf(schema.name).foreach(correct)
  }

  private def create(schema: FamilySchema): Unit = {
    val before = there(schema)
    val strays = before.exists(it => schemas.isOfOtherShuffle(it.spec, schema))
    val spec = if (strays) schema.spec.copy(strays = true) else schema.spec
    StoreFamilies.matching(schema.name)(txn.createFamily(spec))
    schemas.register(schema)
    if (spec.strays && before.exists(it => it.keys != 0 && !it.spec.strays && !it.spec.rescaled)) {
      families.changed()
      requireFound(schema.name)
    }
  }

  /** That rows are found by their keys: those that a migration wrote have hashes by the schema that
    * Spark's files had, and for Scala's transformWithState Spark 4.3 writes the types of the
    * columns that are grouped by, not those of the key.
    */
  private def requireFound(family: String): Unit = {
    val rows = families("iterator", family)
    for (first <- rows.iterator(all = false).take(1) if !rows.contains(first.key)) {
      val checkpoint = CheckpointPath.of(id).toString
      throw new Invalid(
        "KEYFOLD_MIGRATE_KEYS",
        s"The state of $id was migrated under other types of its keys than the query has: column " +
          s"family $family has a row that is not found by its key. Since Spark 4.3, schemas of " +
          "transformWithState have the types of the columns that are grouped by, and not the key's. " +
          s"Undo the migration with `${Command.undoMigrate(checkpoint)}` and go on " +
          "with the old provider; or cast the columns to the key's types, and start with a new " +
          "checkpoint location."
      )
    }
  }

  private def there(schema: FamilySchema) = txn.families.find(_.spec.name == schema.name)

  /** Gives an index that has no rows yet the rule that its variable asks for. */
  private def correct(index: FamilySchema): Unit =
    there(index)
      .filter(_.keys == 0)
      // Without a plan, as in a write of state, the rule does not say by what they are computed.
      .filterNot(it => PartitionKey.haveSameColumns(it.spec.partitionKey, index.spec.partitionKey))
      .filterNot(it => schemas.isOfOtherShuffle(it.spec, index))
      .foreach { _ =>
        txn.dropFamily(index.name)
        create(index)
      }

  override def removeColFamilyIfExists(family: String): Boolean = {
    schemas.verifyChange("remove_col_family", family, internal = false)
    val removed = txn.dropFamily(family)
    families.changed()
    removed
  }

  private def requireValues(verb: String, values: Array[UnsafeRow]): Unit = {
    require(values != null, s"Cannot $verb a null value")
    values.foreach(v => require(v != null, s"Cannot $verb a null value in the array"))
  }

  override def toString: String = s"KeyfoldStateStore[$id, version ${version + 1}]"
}

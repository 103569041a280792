package io.keyfold.spark.state

import org.apache.spark.TaskContext
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.execution.streaming.state._
import org.apache.spark.sql.keyfold.SparkShim
import org.apache.spark.sql.types.StructType

/** Methods shared by read and write stores, which are released at the end of their task at the
  * latest. Methods that older lines of Spark do not have, and none implements, override nothing.
  */
private[spark] trait FamilyReads extends SparkShim.ReadStore {
  protected def schemas: FamilySchemas
  protected def families: StoreFamilies

  // Spark does not always release them.
  Option(TaskContext.get()).foreach(_.addTaskCompletionListener[Unit](_ => release()))

  override def get(key: UnsafeRow, family: String): UnsafeRow = families("get", family).get(key)

  override def keyExists(key: UnsafeRow, family: String): Boolean =
    families("keyExists", family).contains(key)

  override def multiGet(keys: Array[UnsafeRow], family: String): Iterator[UnsafeRow] = {
    val rows = families("multiGet", family)
    keys.iterator.map(rows.get)
  }

  override def valuesIterator(key: UnsafeRow, family: String): Iterator[UnsafeRow] =
    families.multiValue("valuesIterator", family).valuesOf(key)

  override def iterator(family: String): StateStoreIterator[UnsafeRowPair] =
    families("iterator", family).iterator(all = false)

  def iteratorWithMultiValues(family: String): StateStoreIterator[UnsafeRowPair] =
    families.multiValue("iteratorWithMultiValues", family).iterator(all = true)

  override def prefixScan(prefix: UnsafeRow, family: String): StateStoreIterator[UnsafeRowPair] =
    families("prefixScan", family).prefixScan(prefix, all = false)

  def prefixScanWithMultiValues(
      prefix: UnsafeRow,
      family: String
  ): StateStoreIterator[UnsafeRowPair] =
    families.multiValue("prefixScanWithMultiValues", family).prefixScan(prefix, all = true)

  override def rangeScan(
      start: Option[UnsafeRow],
      end: Option[UnsafeRow],
      family: String
  ): StateStoreIterator[UnsafeRowPair] =
    families("rangeScan", family).rangeScan(start, end, all = false)

  override def rangeScanWithMultiValues(
      start: Option[UnsafeRow],
      end: Option[UnsafeRow],
      family: String
  ): StateStoreIterator[UnsafeRowPair] =
    families.multiValue("rangeScanWithMultiValues", family).rangeScan(start, end, all = true)

  def allColumnFamilyNames: Set[String] = families.names

  def release(): Unit

  /** Declares the schema of a family, which a version that is read has. Spark reads state of 4.3
    * and later so.
    *
    * @param keySchema
    *   not used: `spec` has it, and in joins of format 4 only that one is complete
    */
  override def registerColFamily(
      family: String,
      keySchema: StructType,
      valueSchema: StructType,
      spec: KeyStateEncoderSpec,
      useMultipleValuesPerKey: Boolean,
      isInternal: Boolean
  ): Unit = {
    schemas.verifyChange("create_col_family", family, isInternal)
    val described =
      FamilyDescription(family, spec, valueSchema, useMultipleValuesPerKey, isInternal)
    declare(schemas.schema(described))
    families.changed()
  }

  protected def declare(schema: FamilySchema): Unit = schemas.register(schema)
}

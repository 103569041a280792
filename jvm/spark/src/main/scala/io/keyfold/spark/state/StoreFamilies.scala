package io.keyfold.spark.state

import scala.collection.mutable

import io.keyfold.errors.FamilyMismatch
import io.keyfold.store.StoreView
import org.apache.spark.sql.execution.streaming.state.StateStoreErrors
import org.apache.spark.sql.keyfold.SparkPrivate

/** The column families of a view, by Spark's names. Belongs to one task. */
private[spark] final class StoreFamilies(view: StoreView, schemas: FamilySchemas) {
  import FamilySchemas.Default

  private val opened = mutable.HashMap.empty[String, ColumnFamily]
  private var lastName: String = _
  private var lastRows: ColumnFamily = _

  if (!schemas.columnFamilies) apply("open", Default)

  /** @param operation
    *   name of the operation in Spark's errors
    * @throws org.apache.spark.sql.execution.streaming.state.StateStoreUnsupportedOperationOnMissingColumnFamily
    *   or another of Spark's errors, if the version has no such family
    */
  def apply(operation: String, name: String): ColumnFamily =
    // Operators pass the same String instance for each row.
    if (name eq lastName) lastRows
    else {
      lastRows = opened.getOrElseUpdate(name, open(operation, name))
      lastName = name
      lastRows
    }

  /** The same for operations of families that have several values for a key. */
  def multiValue(operation: String, name: String): ColumnFamily = {
    val rows = apply(operation, name)
    if (!rows.multiValue) {
      throw StateStoreErrors.unsupportedOperationException(
        operation,
        s"column family $name, which has one value for a key"
      )
    }
    rows
  }

  private def open(operation: String, name: String): ColumnFamily = {
    val schema = schemas(operation, name)
    val index = indexOf(schema)
    // Version 0 has no families, not even the default one.
    if (index < 0 && name != Default) throw schemas.missing(operation, name)
    new ColumnFamily(view, schema, index)
  }

  private def indexOf(schema: FamilySchema): Int =
    if (schemas.columnFamilies) StoreFamilies.matching(schema.name)(view.indexOf(schema.spec))
    else view.indexOf(schema.spec)

  def names: Set[String] = view.families.map(_.spec.name).toSet + Default

  /** Must be called after families were created or dropped. */
  def changed(): Unit = {
    opened.clear()
    lastName = null
    lastRows = null
  }
}

private object StoreFamilies {

  /** Runs `body` and converts a family mismatch to Spark's error. */
  def matching[T](name: String)(body: => T): T =
    try body
    catch {
      case e: FamilyMismatch =>
        throw SparkPrivate.familyMismatch(name, e)
    }
}

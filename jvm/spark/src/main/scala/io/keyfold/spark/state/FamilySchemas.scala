package io.keyfold.spark.state

import java.util.concurrent.ConcurrentHashMap

import io.keyfold.model.FamilySpec
import io.keyfold.spark.conf.ProviderClass
import io.keyfold.spark.partition.PartitionKey
import io.keyfold.spark.plan.PlannedOperators
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.execution.streaming.state._
import org.apache.spark.sql.keyfold.SparkShim
import org.apache.spark.sql.types.{IntegerType, LongType, StructField, StructType}

/** The column family schemas that Spark has declared to a provider. Kept by the provider, because
  * Spark may declare them to a write store, abort it, and read from another store. Which families
  * exist depends on the version.
  *
  * @param columnFamilies
  *   whether there may be families other than the default one
  * @param avroSchemas
  *   schemas of the rows, if Spark has them
  * @param shuffle
  *   by what Spark partitions the operator's input, if the plan says it
  * @param isLimit
  *   whether the operator is a streaming LIMIT
  */
private[spark] final class FamilySchemas(
    id: StateStoreId,
    conf: StateStoreConf,
    val columnFamilies: Boolean,
    avroSchemas: Option[StateSchemaProvider],
    describedDefault: FamilyDescription,
    shuffle: Option[PlannedOperators.Shuffle],
    isLimit: => Boolean
) {
  import FamilySchemas._

  private val schemas = new ConcurrentHashMap[String, FamilySchema]
  private val avro =
    avroSchemas.filter(_ => conf.stateStoreEncodingFormat == StateStoreEncoding.Avro.toString)
  @volatile private var validated = columnFamilies

  val default: FamilySchema = schema(describedDefault)
  register(default)

  /** The schema of a family with this description: the registered one if it is the same. */
  def schema(of: FamilyDescription): FamilySchema =
    Option(schemas.get(of.name)).filter(_.described == of).getOrElse {
      avroSchemas match {
        // Spark's own tests have no schema files: the store passes schemas to their schema
        // provider.
        case Some(test: TestStateSchemaProvider) =>
          test.captureSchema(of.name, of.key.keySchema, of.value)
        case _ => ()
      }
      made(of)
    }

  private def made(of: FamilyDescription) = {
    val key = shuffle.flatMap(_.key)
    val rule = PartitionKey.of(id.storeName, of.name, of.key, key)(isLimit, isMap)
    new FamilySchema(of, avro, rule, shuffle.exists(_.strays), validate(of.key, of.value))
  }

  /** Whether a family has rows by input that was partitioned by other columns, as in a migration,
    * which knows no plan, or before the query's grouping columns changed their order.
    */
  def isOfOtherShuffle(family: FamilySpec, schema: FamilySchema): Boolean = shuffle.nonEmpty &&
    !PartitionKey.haveSameShuffle(family.partitionKey, schema.spec.partitionKey)

  private def isMap(variable: String) =
    Option(schemas.get(variable)).exists(_.key.isInstanceOf[PrefixKeyScanStateEncoderSpec])

  /** The schema of the TTL index of a variable that has just been registered. Spark declares an
    * index before its variable, and only the variable shows by what its rows are placed.
    */
  def ttlIndexOf(variable: String): Option[FamilySchema] =
    Option(schemas.get(PartitionKey.ttlIndexOf(variable)))
      .map(it => made(it.described))

  def register(schema: FamilySchema): Unit = {
    schemas.put(schema.name, schema)
    ()
  }

  /** @throws org.apache.spark.sql.execution.streaming.state.StateStoreUnsupportedOperationOnMissingColumnFamily
    *   or another of Spark's errors, if such a family cannot exist
    */
  def apply(operation: String, name: String): FamilySchema = {
    if (name != Default) {
      requireColumnFamilies(operation)
      requireName(operation, name)
    }
    val schema = schemas.get(name)
    if (schema == null) throw missing(operation, name)
    schema
  }

  def missing(operation: String, name: String): Throwable =
    StateStoreErrors.unsupportedOperationOnMissingColumnFamily(operation, name)

  /** Checks a name as Spark's RocksDB provider does.
    *
    * @throws org.apache.spark.sql.execution.streaming.state.StateStoreCannotUseColumnFamilyWithInvalidName
    *   or another of Spark's errors, if a family of that name cannot be created or dropped
    */
  def verifyChange(operation: String, name: String, internal: Boolean): Unit = {
    requireColumnFamilies(operation)
    requireName(operation, name)
    if (name == Default && !internal) {
      throw StateStoreErrors.cannotUseColumnFamilyWithInvalidName(operation, name)
    }
    if (!internal && name.startsWith("$")) {
      throw StateStoreErrors.cannotCreateColumnFamilyWithReservedChars(name)
    }
  }

  private def requireColumnFamilies(operation: String): Unit = if (!columnFamilies) {
    throw StateStoreErrors.unsupportedOperationException(
      operation,
      s"multiple column families is disabled in ${ProviderClass.SimpleName}"
    )
  }

  private def requireName(operation: String, name: String): Unit =
    if (name.isEmpty || name.trim != name) {
      throw StateStoreErrors.cannotUseColumnFamilyWithInvalidName(operation, name)
    }

  /** Checks once that a stored row of the default family fits the query's schema. */
  private def validate(key: KeyStateEncoderSpec, value: StructType)(
      keyRow: UnsafeRow,
      valueRow: UnsafeRow
  ): Unit = if (!validated) {
    SparkShim.validate(keyRow, key.keySchema, valueRow, asStored(value), id, conf)
    validated = true
  }
}

private[spark] object FamilySchemas {
  val Default: String = StateStore.DEFAULT_COL_FAMILY_NAME

  /** How flatMapGroupsWithState of state format 1 describes the time of a timeout. It stores a long
    * there, so the row fits its schema only while that is small: HDFSBacked, which looks at the
    * first row of the oldest file, mostly lets it pass. (Since Spark 4.3 all fields are nullable.)
    */
  def isTimeout(field: StructField) =
    field.name == "timeoutTimestamp" && field.dataType == IntegerType

  private def asStored(value: StructType): StructType = value.lastOption.filter(isTimeout) match {
    case Some(timeout) => StructType(value.init :+ timeout.copy(dataType = LongType))
    case None          => value
  }
}

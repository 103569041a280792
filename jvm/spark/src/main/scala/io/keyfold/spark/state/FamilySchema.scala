package io.keyfold.spark.state

import io.keyfold.model.FamilySpec
import io.keyfold.spark.encoding.{AvroCodec, KeyCodec, RangeKeyCodec, RowValueCodec, ValueCodec}
import io.keyfold.spark.partition.{PartitionKey, RowHash}
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.execution.streaming.state._
import org.apache.spark.sql.types.StructType

/** A column family in Spark's description.
  *
  * @param key
  *   encoding of its keys; `key.keySchema` is the schema of its key rows. (Spark's other argument,
  *   the key schema, lacks a column in joins of format 4.)
  */
private[spark] final case class FamilyDescription(
    name: String,
    key: KeyStateEncoderSpec,
    value: StructType,
    multiValue: Boolean,
    internal: Boolean
)

/** A column family in Spark's and in Keyfold's description.
  *
  * @param schemas
  *   schemas by id, if its rows are encoded as Avro
  * @param validate
  *   called with each row that is read
  */
private[spark] final class FamilySchema(
    val described: FamilyDescription,
    schemas: Option[StateSchemaProvider],
    partitionKey: PartitionKey,
    strays: Boolean,
    val validate: (UnsafeRow, UnsafeRow) => Unit
) {
  val name: String = described.name
  val key: KeyStateEncoderSpec = described.key
  val value: StructType = described.value
  val multiValue: Boolean = described.multiValue

  key match {
    case RangeKeyScanStateEncoderSpec(schema, ordinals) =>
      RangeKeyCodec.requireOrdered(schema, ordinals)
    case _ => ()
  }

  val spec: FamilySpec = FamilySpec(
    name,
    described.internal,
    multiValue,
    ordered = KeyCodec.isOrdered(key),
    keyEncoding = KeyCodec.nameOf(key),
    rowEncoding = if (schemas.isEmpty) "unsaferow" else "avro",
    partitionKey = partitionKey.name,
    keySchemaId = schemaId(isKey = true),
    valueSchemaId = schemaId(isKey = false),
    strays = strays
  )

  /** Spark has no schema of families that it does not use, such as the default one in Python. */
  private def schemaId(isKey: Boolean): Int = schemas.fold(0) { provider =>
    try provider.getCurrentStateSchemaId(name, isKey).toInt
    catch { case _: UnsupportedOperationException => 0 }
  }

  /** One a thread, as a codec belongs to one: it costs too much to make one for each list that is
    * read.
    */
  private val avro = schemas.map { provider =>
    ThreadLocal.withInitial[AvroCodec](() => new AvroCodec(name, key, value, provider))
  }

  def newKeys(): KeyCodec = avro.fold(KeyCodec.of(key))(_.get.keys)
  def newValues(): ValueCodec = avro.fold[ValueCodec](new RowValueCodec)(_.get.values)

  /** The hash that decides a row's partition, by the rule that the version's files name. */
  def newHash(rule: String): RowHash = PartitionKey(rule, key.keySchema).newHash()

  /** The same hash, by what a prefix scan is given; null if that does not tell it. */
  def newPrefixHash(rule: String): RowHash = key match {
    case PrefixKeyScanStateEncoderSpec(schema, columns) =>
      PartitionKey.ofPrefix(rule, StructType(schema.take(columns))).map(_.newHash()).orNull
    case _ => null
  }
}

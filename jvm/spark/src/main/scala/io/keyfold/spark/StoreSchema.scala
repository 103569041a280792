package io.keyfold.spark

import io.keyfold.format.FamilySpec
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.execution.streaming.state._
import org.apache.spark.sql.types.StructType

/** The default column family as Spark describes it in `init`, and as Keyfold keeps it.
  *
  * @param key
  *   schema of the key as the operator sees it
  */
final class StoreSchema(
    id: StateStoreId,
    val key: StructType,
    val value: StructType,
    spec: KeyStateEncoderSpec,
    conf: StateStoreConf
) {
  private val partitionKey = PartitionKey.of(id.storeName, key, value, spec)
  @volatile private var validated = false

  /** @throws org.apache.spark.sql.execution.streaming.state.StateStoreUnsupportedOperationException
    *   if keys are encoded in a way that Keyfold does not have
    */
  val family: FamilySpec = {
    val (encoding, ordered) = KeyCodec
      .encodingOf(spec)
      .getOrElse(
        throw StateStoreErrors.unsupportedOperationException(
          spec.getClass.getSimpleName,
          KeyfoldStateStoreProvider.Name
        )
      )
    FamilySpec(
      StateStore.DEFAULT_COL_FAMILY_NAME,
      internal = false,
      multiValue = false,
      ordered = ordered,
      keyEncoding = encoding,
      rowEncoding = "unsaferow",
      partitionKey = partitionKey.name,
      keySchemaId = 0,
      valueSchemaId = 0
    )
  }

  def newCodec(): KeyCodec = KeyCodec.of(spec)
  def newHash(): RowHash = partitionKey.newHash()

  /** Checks, once, that a stored row fits the query's schema. */
  def validate(keyRow: UnsafeRow, valueRow: UnsafeRow): Unit = if (!validated) {
    StateStoreProvider.validateStateRowFormat(keyRow, key, valueRow, value, id, conf)
    validated = true
  }
}

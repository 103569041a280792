package io.keyfold.spark.rewrite

import java.util.UUID

import io.keyfold.model.{StoreLocation, VersionId}
import io.keyfold.spark.state.{EmptiedStores, FamilySchemas}
import org.apache.spark.TaskContext
import org.apache.spark.broadcast.Broadcast
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.execution.streaming.state._
import org.apache.spark.sql.keyfold.SparkShim
import org.apache.spark.sql.types.StructType
import org.apache.spark.util.SerializableConfiguration

/** A column family of a store.
  *
  * @param multiValue
  *   whether a key has several values
  */
private final case class StoredFamily(schema: StateStoreColFamilySchema, multiValue: Boolean) {
  val name: String = schema.colFamilyName

  /** Whether it is of a map: its keys have the grouping key and the user's. */
  def isMap: Boolean = schema.keySchema.head.dataType.isInstanceOf[StructType]

  /** Whether its schema says less than is stored: see [[FamilySchemas.isTimeout]]. */
  def hasOldTimeout: Boolean = schema.valueSchema.lastOption.exists(FamilySchemas.isTimeout)

  def createIn(store: StateStore): Unit =
    if (name != StateStore.DEFAULT_COL_FAMILY_NAME) {
      val encoder = schema.keyStateEncoderSpec.get
      store.createColFamilyIfAbsent(
        name,
        schema.keySchema,
        schema.valueSchema,
        encoder,
        multiValue,
        isInternal = name.startsWith("$")
      )
    }

  /** Every value, with its key; the values of a key are adjacent. */
  def rowsOf(store: StateStore): Iterator[UnsafeRowPair] =
    if (multiValue) SparkShim.allValues(store, name) else store.iterator(name)

  /** Puts rows, the values of a key being adjacent, in place of what their keys have. */
  def put(rows: Iterator[UnsafeRowPair], store: StateStore): Unit = {
    var last: UnsafeRow = null
    rows.foreach { row =>
      if (multiValue && row.key == last) store.merge(row.key, row.value, name)
      else {
        store.put(row.key, row.value, name)
        if (multiValue) last = row.key.copy()
      }
    }
  }
}

/** One store of one operator after a batch, with what it takes to open it in a task. Sent to
  * executors.
  *
  * @param run
  *   id that its providers have, as those of a run of a query do
  * @param schemaFiles
  *   schemas by id, if the operator has them
  * @param version
  *   that the batch wrote
  * @param ids
  *   of that version, by partition; None under checkpoint format v1
  */
private final case class StoreOfOperator(
    run: UUID,
    root: String,
    operator: Long,
    name: String,
    families: Seq[StoredFamily],
    schemaFiles: Option[StateSchemaMetadata],
    hadoopConf: Broadcast[SerializableConfiguration],
    conf: StateStoreConf,
    version: Long,
    ids: Option[Array[String]]
) {

  /** Name of a family: a join may have a store for each. */
  def nameOf(family: StoredFamily): String =
    if (name == StoreLocation.DefaultStore) family.name else name

  /** The version of a partition, as the commit log has it. */
  def versionOf(partition: Int): VersionId = VersionId(version, ids.fold("")(_(partition)))

  /** Takes the version of a partition from its provider. */
  def of(partition: Int)(provider: StateStoreProvider): StateStore =
    provider.getStore(version, ids.map(_(partition)))

  /** Takes what will be the next version of a partition from its provider, without rows. */
  def emptied(partition: Int)(provider: StateStoreProvider): StateStore =
    emptiedBy(provider).getStoreEmptied(version, ids.get(partition))

  /** Takes what will be another attempt at the version of a partition, without rows. */
  def again(partition: Int)(provider: StateStoreProvider): StateStore =
    emptiedBy(provider).getStoreAgain(version, ids.get(partition))

  private def emptiedBy(provider: StateStoreProvider) = provider match {
    case it: EmptiedStores => it
    case other => throw new IllegalArgumentException(s"$other cannot write a version without rows")
  }

  /** Calls `use` with a version of a partition, which it may commit.
    *
    * @param open
    *   takes the version from the provider
    */
  def using[T](partition: Int)(open: StateStoreProvider => StateStore)(use: StateStore => T): T = {
    val opened = provider(partition)
    try {
      val state = open(opened)
      try {
        families.foreach(_.createIn(state))
        use(state)
      } finally if (!state.hasCommitted) state.abort()
    } finally opened.close()
  }

  /** The rows of a family in the version of a partition, in a task, at whose end it is closed. */
  def rows(partition: Int, family: StoredFamily): Iterator[UnsafeRowPair] = {
    val opened = provider(partition)
    val task = TaskContext.get()
    task.addTaskCompletionListener[Unit](_ => opened.close())
    val state = of(partition)(opened)
    task.addTaskCompletionListener[Unit](_ => state.abort())
    families.foreach(_.createIn(state))
    family.rowsOf(state)
  }

  /** Names of the families that a partition has, if the provider is RocksDB. */
  def familyNames(partition: Int): Set[String] = {
    val opened = provider(partition)
    try {
      val state = of(partition)(opened)
      try SparkShim.familyNames(opened)
      finally state.abort()
    } finally opened.close()
  }

  private def provider(partition: Int) = {
    val first = families
      .find(_.name == StateStore.DEFAULT_COL_FAMILY_NAME)
      .fold(StoreOfOperator.unused(families))(_.schema)
    StateStoreProvider.createAndInit(
      StateStoreProviderId(StateStoreId(root, operator, partition, name), run),
      first.keySchema,
      first.valueSchema,
      first.keyStateEncoderSpec.get,
      useColumnFamilies = families.exists(_.name != StateStore.DEFAULT_COL_FAMILY_NAME),
      conf,
      hadoopConf.value.value,
      useMultipleValuesPerKey = false,
      schemaFiles.map(new InMemoryStateSchemaProvider(_))
    )
  }
}

private object StoreOfOperator {

  /** A default family for a store whose schema has none: transformWithState's has the grouping key,
    * which every family's key equals or begins with.
    */
  private def unused(families: Seq[StoredFamily]): StateStoreColFamilySchema = {
    val user = families.filterNot(_.name.startsWith("$")).map(_.schema)
    val grouping = user
      .collectFirst { case it if !isComposite(it) => it.keySchema }
      .orElse(user.headOption.map(it => it.keySchema.head.dataType.asInstanceOf[StructType]))
      .getOrElse(families.head.schema.keySchema)
    families.head.schema.copy(
      keySchema = grouping,
      keyStateEncoderSpec = Some(NoPrefixKeyStateEncoderSpec(grouping))
    )
  }

  private def isComposite(schema: StateStoreColFamilySchema) =
    schema.keyStateEncoderSpec.exists(_.isInstanceOf[PrefixKeyScanStateEncoderSpec])
}

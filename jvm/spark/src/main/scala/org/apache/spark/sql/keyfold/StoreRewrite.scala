package org.apache.spark.sql.keyfold

import java.util.UUID

import scala.util.control.NonFatal

import io.keyfold.errors.Invalid
import org.apache.spark.broadcast.Broadcast
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.execution.streaming.state._
import org.apache.spark.sql.types.StructType
import org.apache.spark.util.SerializableConfiguration

/** A column family to copy.
  *
  * @param multiValue
  *   whether a key has several values
  */
private final case class RewrittenFamily(schema: StateStoreColFamilySchema, multiValue: Boolean) {
  val name: String = schema.colFamilyName

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
}

/** Copies a version of one store of one operator from one provider to another. Sent to executors.
  *
  * @param version
  *   the version to read; the next one is written
  * @param ids
  *   of that version, by partition
  * @param schemaFiles
  *   schemas by id, if the operator has them
  */
private final class StoreRewrite(
    root: String,
    operator: Long,
    store: String,
    val partitions: Int,
    version: Long,
    ids: Option[Array[String]],
    families: Seq[RewrittenFamily],
    from: StateStoreConf,
    to: StateStoreConf,
    schemaFiles: Option[StateSchemaMetadata],
    hadoopConf: Broadcast[SerializableConfiguration]
) extends Serializable {
  private val columnFamilies = families.exists(_.name != StateStore.DEFAULT_COL_FAMILY_NAME)

  /** Runs in a task.
    *
    * @return
    *   id of the version written, if it has one
    * @throws io.keyfold.errors.Invalid
    *   if the old provider cannot read the version
    */
  def write(partition: Int): Option[String] = {
    val source = provider(partition, from)
    try {
      val target = provider(partition, to)
      try {
        val rows = read(source, partition)
        try write(rows, SparkShim.emptyStore(target, version))
        finally rows.abort()
      } finally target.close()
    } finally source.close()
  }

  private def read(source: StateStoreProvider, partition: Int): StateStore =
    try source.getStore(version, ids.map(_(partition)))
    catch {
      case NonFatal(e) =>
        val root = Iterator.iterate[Throwable](e)(_.getCause).takeWhile(_ != null).toSeq.last
        throw new Invalid(
          "KEYFOLD_MIGRATE_SOURCE",
          s"Version $version of the state in ${source.stateStoreId.storeCheckpointLocation()} cannot be " +
            s"read by ${from.providerClass}: ${root.getMessage}. Restore its files from a copy and migrate " +
            "again, or start with a new checkpoint location: no batch is left to go back to, since " +
            "Keyfold goes back in state of its own only. The old state was not changed.",
          e
        )
    }

  private def write(rows: StateStore, copy: StateStore): Option[String] =
    try {
      for (family <- families) {
        family.createIn(rows)
        family.createIn(copy)
      }
      for (family <- families) {
        if (family.multiValue) writeLists(rows, copy, family.name)
        else
          rows.iterator(family.name).foreach(row => copy.put(row.key, row.value, family.name))
      }
      copy.commit()
      copy.getStateStoreCheckpointInfo().stateStoreCkptId
    } finally if (!copy.hasCommitted) copy.abort()

  /** The values of a key are adjacent. */
  private def writeLists(rows: StateStore, copy: StateStore, family: String): Unit = {
    var last: UnsafeRow = null
    SparkShim.allValues(rows, family).foreach { row =>
      if (row.key == last) copy.merge(row.key, row.value, family)
      else {
        copy.put(row.key, row.value, family)
        last = row.key.copy()
      }
    }
  }

  private def provider(partition: Int, conf: StateStoreConf) = {
    val first = families
      .find(_.name == StateStore.DEFAULT_COL_FAMILY_NAME)
      .fold(StoreRewrite.unused(families))(_.schema)
    StateStoreProvider.createAndInit(
      StateStoreProviderId(StateStoreId(root, operator, partition, store), UUID.randomUUID()),
      first.keySchema,
      first.valueSchema,
      first.keyStateEncoderSpec.get,
      columnFamilies,
      conf,
      hadoopConf.value.value,
      useMultipleValuesPerKey = false,
      schemaFiles.map(new InMemoryStateSchemaProvider(_))
    )
  }
}

private object StoreRewrite {

  /** A default family for a store whose schema has none: transformWithState's has the grouping key,
    * which every family's key equals or begins with.
    */
  private def unused(families: Seq[RewrittenFamily]): StateStoreColFamilySchema = {
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

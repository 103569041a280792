package org.apache.spark.sql.keyfold

import java.io.IOException
import java.util.UUID

import io.keyfold.errors.Invalid
import org.apache.hadoop.fs.Path
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.execution.streaming.state._
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.util.SerializableConfiguration

/** Reads all rows of a batch's state with the batch's provider and writes them as the state of the
  * next batch with other settings, including another provider; one task per partition. Changes no
  * log and no existing file.
  *
  * (Spark's own `StateRewriter` cannot read HDFSBacked.)
  *
  * @param of
  *   the batch whose state is read; it must be committed
  * @param settings
  *   changed settings of the batch to write
  */
final class StateRewrite(
    session: SparkSession,
    logs: CheckpointLogs,
    of: Long,
    settings: Map[String, String]
) {
  private val ids = logs.ids(of)
  private val hadoopConf = logs.hadoopConf
  logs.partitions(of).foreach(hadoopConf.setInt(SparkShim.PartitionsKey, _))
  private val shared =
    session.sparkContext.broadcast(new SerializableConfiguration(hadoopConf))

  /** @return
    *   ids of the state written, by operator, partition and store; None under checkpoint format v1
    */
  def write(): Option[Map[Long, Array[Array[String]]]] = {
    val written = logs.metadata(of).map { operator =>
      val stores = SparkShim.stores(operator).zipWithIndex.map { case (store, place) =>
        copyOf(operator, store, place)
      }
      operator.operatorInfo.operatorId -> stores.map(run).transpose.map(_.toArray).toArray
    }
    ids.map(_ => written.toMap)
  }

  /** @throws io.keyfold.errors.Invalid
    *   if the schema of a store cannot be read
    */
  def requireSchemas(): Unit = for {
    operator <- logs.metadata(of)
    store <- SparkShim.stores(operator)
  } schemasOf(operator.operatorInfo.operatorId, store)

  private def run(copy: StoreRewrite): Seq[String] = {
    val partitions = 0 until copy.partitions
    session.sparkContext
      .parallelize(partitions, partitions.size)
      .map(copy.write(_).getOrElse(""))
      .collect()
      .toSeq
  }

  private def copyOf(operator: OperatorStateMetadata, store: StateStoreMetadata, place: Int) = {
    val id = operator.operatorInfo.operatorId
    val files = filesOf(store)
    val isLists = listsOf(operator)
    val families = schemasOf(id, store).map { schema =>
      RewrittenFamily(schema, isLists(schema.colFamilyName))
    }
    val schemaFiles = Option.when(files.nonEmpty)(
      StateSchemaMetadata.createStateSchemaMetadata(logs.state.toString, hadoopConf, files)
    )
    new StoreRewrite(
      logs.state.toString,
      id,
      store.storeName,
      logs.partitionFolders(id).size,
      of + 1,
      ids.map(_(id).map(_(place))),
      families,
      storeConf(Map.empty),
      storeConf(settings),
      schemaFiles,
      shared
    )
  }

  private def storeConf(changes: Map[String, String]) = {
    val conf = session.sessionState.conf.clone()
    SparkShim.OffsetSeqMetadata.setSessionConf(logs.offsetMetadata(of), conf)
    conf.setConf(SQLConf.STATE_STORE_CHECKPOINT_FORMAT_VERSION, if (ids.isEmpty) 1 else 2)
    SparkShim.withoutCommitReports(conf)
    changes.foreach { case (key, value) => conf.setConfString(key, value) }
    StateStoreConf(conf)
  }

  /** Families with several values per key: transformWithState's lists, and joins with state format
    * 4.
    */
  private def listsOf(operator: OperatorStateMetadata): Set[String] = operator match {
    case v2: OperatorStateMetadataV2
        if SparkShim.transformWithStateNames.contains(operator.operatorInfo.operatorName) =>
      SparkShim.TransformWithStateOperatorProperties
        .fromJson(v2.operatorPropertiesJson)
        .stateVariables
        .filter(_.stateVariableType == SparkShim.StateVariableType.ListState)
        .map(_.stateName)
        .toSet
    case _ => SparkShim.joinLists
  }

  private def filesOf(store: StateStoreMetadata) = store match {
    case v2: StateStoreMetadataV2 => v2.stateSchemaFilePaths
    case _                        => Nil
  }

  private def schemasOf(operator: Long, store: StateStoreMetadata) = {
    val files = filesOf(store).map(new Path(_))
    val id = StateStoreId(
      logs.state.toString,
      operator,
      StateStore.PARTITION_ID_TO_CHECK_SCHEMA,
      store.storeName
    )
    val schemas =
      try SparkShim.schemas(StateStoreProviderId(id, UUID.randomUUID()), files.toList, hadoopConf)
      catch { case e: IOException => throw unreadable(id, files, e) }
    schemas.map(withEncoder(_, store))
  }

  private def unreadable(id: StateStoreId, files: Seq[Path], e: IOException) = {
    val path = new Path(id.storeCheckpointLocation(), "_metadata/schema")
    val otherwise =
      if (files.nonEmpty) ""
      else
        s"Or delete these files, which Spark writes again:\n$path\nThen set ${CheckpointLogs.FormatKey}=1 " +
          "for the query, start it once with the trigger AvailableNow, and migrate again. "
    new Invalid(
      "KEYFOLD_MIGRATE_SOURCE",
      s"Cannot migrate ${logs.location}: the schema of its state in ${(path +: files).last} cannot be " +
        s"read: $e. Restore it from a copy. ${otherwise}Nothing was changed.",
      e
    )
  }

  /** Schema files of the first version have no key encoder; the operator's metadata have it. */
  private def withEncoder(schema: StateStoreColFamilySchema, store: StateStoreMetadata) = {
    val byMetadata =
      if (store.numColsPrefixKey > 0)
        PrefixKeyScanStateEncoderSpec(schema.keySchema, store.numColsPrefixKey)
      else NoPrefixKeyStateEncoderSpec(schema.keySchema)
    schema.copy(keyStateEncoderSpec = schema.keyStateEncoderSpec.orElse(Some(byMetadata)))
  }
}

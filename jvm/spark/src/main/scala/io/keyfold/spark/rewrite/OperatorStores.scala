package io.keyfold.spark.rewrite

import java.io.IOException
import java.util.UUID

import io.keyfold.spark.checkpoint.CheckpointLogs
import io.keyfold.spark.plan.PlannedOperators
import org.apache.hadoop.fs.Path
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.execution.streaming.state._
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.keyfold.SparkShim
import org.apache.spark.util.SerializableConfiguration

/** The stores of the operators of a batch, for tasks that read or write their state.
  *
  * @param batch
  *   it must be committed
  */
private final class OperatorStores(session: SparkSession, logs: CheckpointLogs, batch: Long) {
  val ids: Option[Map[Long, Array[Array[String]]]] = logs.ids(batch)
  private val run = UUID.randomUUID()
  private val hadoopConf = logs.hadoopConf
  PlannedOperators.tell(hadoopConf, run)
  logs.partitions(batch).foreach(hadoopConf.setInt(SparkShim.PartitionsKey, _))
  private val shared =
    session.sparkContext.broadcast(new SerializableConfiguration(hadoopConf))

  /** In the order in which the commit log has their ids. */
  def of(operator: OperatorStateMetadata): Seq[StoreOfOperator] = {
    val (id, stores) = (operator.operatorInfo.operatorId, SparkShim.stores(operator))
    val isLists = listsOf(operator)
    stores.zipWithIndex.map { case (store, index) =>
      val files = store match {
        case v2: StateStoreMetadataV2 => v2.stateSchemaFilePaths
        case _                        => Nil
      }
      val families = schemasOf(id, store, files.map(new Path(_))).map { schema =>
        StoredFamily(schema, isLists(schema.colFamilyName))
      }
      val schemaFiles = Option.when(files.nonEmpty)(
        StateSchemaMetadata.createStateSchemaMetadata(logs.state.toString, hadoopConf, files)
      )
      new StoreOfOperator(
        run,
        logs.state.toString,
        id,
        store.storeName,
        families,
        schemaFiles,
        shared,
        unchanged,
        batch + 1,
        logs.idsOfStore(batch, ids, id, stores.length, index).filter(_.nonEmpty).map(_.toArray)
      )
    }
  }

  private lazy val unchanged = conf(Map.empty)

  /** Settings of the batch's stores, with changes. */
  def conf(changes: Map[String, String]): StateStoreConf = {
    val conf = session.sessionState.conf.clone()
    SparkShim.OffsetSeqMetadata.setSessionConf(logs.offsetMetadata(batch), conf)
    conf.setConf(SQLConf.STATE_STORE_CHECKPOINT_FORMAT_VERSION, if (ids.isEmpty) 1 else 2)
    SparkShim.withoutReports(conf)
    changes.foreach { case (key, value) => conf.setConfString(key, value) }
    StateStoreConf(conf)
  }

  /** Families with several values per key: transformWithState's lists, and joins with state format
    * 4.
    */
  private def listsOf(operator: OperatorStateMetadata): Set[String] =
    OperatorStores.variables(operator).fold(SparkShim.joinLists) { variables =>
      val lists = variables.filter(_.stateVariableType == SparkShim.StateVariableType.ListState)
      lists.map(_.stateName).toSet
    }

  private def schemasOf(operator: Long, store: StateStoreMetadata, files: Seq[Path]) = {
    val id = StateStoreId(
      logs.state.toString,
      operator,
      StateStore.PARTITION_ID_TO_CHECK_SCHEMA,
      store.storeName
    )
    val schemas =
      // Spark 4.0 asks the thread for its session, which a thread of the user's does not have.
      try
        session.withActive {
          SparkShim.schemas(StateStoreProviderId(id, run), files.toList, hadoopConf)
        }
      catch { case e: IOException => throw new OperatorStores.UnreadableSchema(id, files, e) }
    schemas.map(withEncoder(_, store))
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

private object OperatorStores {

  /** What transformWithState keeps; None for another operator. */
  def variables(operator: OperatorStateMetadata) = operator match {
    case v2: OperatorStateMetadataV2
        if SparkShim.transformWithStateNames.contains(v2.operatorInfo.operatorName) =>
      val json = v2.operatorPropertiesJson
      Some(SparkShim.TransformWithStateOperatorProperties.fromJson(json).stateVariables)
    case _ => None
  }

  /** @param files
    *   that have the schema, if the operator's metadata name them
    */
  final class UnreadableSchema(val id: StateStoreId, val files: Seq[Path], cause: IOException)
      extends IOException(cause)
}

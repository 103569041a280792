package io.keyfold.spark.rewrite

import io.keyfold.errors.Invalid
import io.keyfold.spark.checkpoint.CheckpointLogs
import org.apache.hadoop.fs.Path
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.execution.streaming.state.OperatorStateMetadata
import org.apache.spark.sql.keyfold.SparkShim

/** Reads all rows of a batch's state with the batch's provider and writes them as the state of
  * another batch with other settings, including another provider; one task per partition. Changes
  * no log and no existing file.
  *
  * (Spark's own `StateRewriter` cannot read HDFSBacked.)
  *
  * @param of
  *   the batch whose state is read; it must be committed
  * @param batch
  *   whose state is written
  * @param settings
  *   changed settings of that batch
  */
final class StateRewrite(
    session: SparkSession,
    logs: CheckpointLogs,
    of: Long,
    batch: Long,
    settings: Map[String, String]
) {
  private val stores = new OperatorStores(session, logs, of)

  /** @return
    *   ids of the state written, by operator, partition and store; None under checkpoint format v1
    * @throws io.keyfold.errors.Invalid
    *   if the old provider cannot read the state; no task writes any more then
    */
  def write(): Option[Map[Long, Array[Array[String]]]] = {
    val operators = logs.metadata(of)
    val hasIds = stores.ids.nonEmpty || needsIds(operators)
    val to = settings + (CheckpointLogs.FormatKey -> (if (hasIds) "2" else "1"))
    val written = operators.map { operator =>
      val id = operator.operatorInfo.operatorId
      val partitions = logs.partitionFolders(id).indices
      val copies = storesOf(operator).map(new StoreRewrite(_, batch, stores.conf(to)))
      id -> copies.map(run(_, partitions)).transpose.map(_.toArray).toArray
    }
    Option.when(hasIds)(written.toMap)
  }

  /** Keyfold's settings ask for format 2, and some lines of Spark do not continue format 1 under
    * it. State of subtasks is redistributed under format 2 only, which not every line goes over to.
    * Elsewhere there are none: HDFSBacked, which has no such state, cannot read a folder that has
    * files with ids, which a migration that broke off has left.
    */
  private def needsIds(operators: Seq[OperatorStateMetadata]) =
    (SparkShim.continuesUnder(1, 2).isEmpty || hasSubtasks) &&
      (SparkShim.oneTaskCanHaveIds || !operators.exists(isOneTask))

  private def hasSubtasks = SubtaskState.names(logs, of).exists(_._2.nonEmpty)

  private def isOneTask(operator: OperatorStateMetadata) =
    logs.partitionFolders(operator.operatorInfo.operatorId).size == 1 &&
      logs.partitions(of).exists(_ > 1)

  /** @throws io.keyfold.errors.Invalid
    *   if the schema of a store cannot be read
    */
  def requireSchemas(): Unit = logs.metadata(of).foreach(storesOf)

  private def run(copy: StoreRewrite, partitions: Range): Seq[String] = {
    val written = session.sparkContext
      .parallelize(partitions, partitions.size)
      .map(copy.write)
      .collect()
    written.toSeq.map {
      case Right(id)    => id
      case Left(reason) => throw new Invalid("KEYFOLD_MIGRATE_SOURCE", reason)
    }
  }

  private def storesOf(operator: OperatorStateMetadata) =
    try stores.of(operator)
    catch { case e: OperatorStores.UnreadableSchema => throw unreadable(e) }

  private def unreadable(e: OperatorStores.UnreadableSchema) = {
    val path = new Path(e.id.storeCheckpointLocation(), "_metadata/schema")
    val otherwise =
      if (e.files.nonEmpty) ""
      else
        s"Or delete these files, which Spark writes again:\n$path\nThen set ${CheckpointLogs.FormatKey}=1 " +
          "for the query, start it once with the trigger AvailableNow, and migrate again. "
    new Invalid(
      "KEYFOLD_MIGRATE_SOURCE",
      s"Cannot migrate ${logs.location}: the schema of its state in ${(path +: e.files).last} cannot be " +
        s"read: ${e.getCause}. Restore it from a copy. ${otherwise}Nothing was changed.",
      e
    )
  }
}

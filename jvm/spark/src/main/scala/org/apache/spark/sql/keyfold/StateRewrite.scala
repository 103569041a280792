package org.apache.spark.sql.keyfold

import org.apache.spark.sql.SparkSession

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
  private val stores = new OperatorStores(session, logs, of)

  /** @return
    *   ids of the state written, by operator, partition and store; None under checkpoint format v1
    */
  def write(): Option[Map[Long, Array[Array[String]]]] = {
    val written = logs.metadata(of).map { operator =>
      val id = operator.operatorInfo.operatorId
      val copies = stores.of(operator).zipWithIndex.map { case (store, place) =>
        new StoreRewrite(
          store,
          logs.partitionFolders(id).size,
          of + 1,
          stores.ids.map(_(id).map(_(place))),
          stores.conf(Map.empty),
          stores.conf(settings)
        )
      }
      id -> copies.map(run).transpose.map(_.toArray).toArray
    }
    stores.ids.map(_ => written.toMap)
  }

  private def run(copy: StoreRewrite): Seq[String] = {
    val partitions = 0 until copy.partitions
    session.sparkContext
      .parallelize(partitions, partitions.size)
      .map(copy.write(_).getOrElse(""))
      .collect()
      .toSeq
  }
}

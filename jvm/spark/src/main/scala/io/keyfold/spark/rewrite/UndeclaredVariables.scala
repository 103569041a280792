package io.keyfold.spark.rewrite

import io.keyfold.model.StoreLocation
import io.keyfold.spark.checkpoint.CheckpointTools
import io.keyfold.store.file.LineageReader
import org.apache.spark.sql.execution.streaming.state.{OperatorStateMetadata, StateStore}

/** State variables that the run of a batch did not declare, though the state has them: Spark
  * forgets their schemas, and its provider keeps the rows.
  *
  * @param of
  *   the batch
  */
private[spark] final class UndeclaredVariables(tools: CheckpointTools, of: Long) {
  import tools.{logs, session}

  /** Their names, sorted. */
  def in(operator: OperatorStateMetadata): Seq[String] =
    OperatorStores.variables(operator).toSeq.flatMap { variables =>
      val stores = new OperatorStores(session, logs, of).of(operator)
      val known = variables.map(_.stateName).toSet + StateStore.DEFAULT_COL_FAMILY_NAME
      val names = stores.flatMap(it => if (logs.isBuiltIn(of)) inRocksDb(it) else inFiles(it))
      names.distinct.filterNot(it => known(it) || it.startsWith("$")).sorted
    }

  private def inFiles(store: StoreOfOperator): Seq[String] = {
    val partitions = store.ids.fold(0 until logs.partitions(of).getOrElse(0))(_.indices)
    tools
      .parallel(partitions) { partition =>
        val location = StoreLocation(store.operator, partition, store.name)
        val files = new LineageReader(tools.blobs, location)
        val head = files.headIfThere(store.versionOf(partition).written)
        // After a rescale it is not known whether a family has rows.
        head.toSeq.flatMap(_.footer.families).filter(_.keys != 0).map(_.spec.name)
      }
      .flatten
  }

  /** A query declares a variable in each partition. */
  private def inRocksDb(store: StoreOfOperator): Seq[String] =
    session.sparkContext.parallelize(Seq(0), 1).flatMap(store.familyNames).collect().toSeq
}

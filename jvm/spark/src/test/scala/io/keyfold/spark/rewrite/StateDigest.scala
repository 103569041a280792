package io.keyfold.spark.rewrite

import io.keyfold.spark.checkpoint.CheckpointLogs
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/** All that is stored after the last batch of a checkpoint: number of values, and a sum of the
  * hashes of their keys, their places in lists and themselves, by store, family and partition.
  */
private[spark] object StateDigest {
  def of(session: SparkSession, folder: String): Map[String, (Int, Long)] = {
    val logs = new CheckpointLogs(session, folder)
    val batch = logs.lastCommitted.get
    val stores = new OperatorStores(session, logs, batch)
    val digests = for {
      operator <- logs.metadata(batch)
      store <- stores.of(operator)
      partition <- store.ids.get.indices
      digest <- store.using(partition)(store.of(partition)) { state =>
        store.families.map { family =>
          val place = s"${store.operator} ${store.name} ${family.name} $partition"
          var (rows, nth, sum) = (0, 0, 0L)
          var last: UnsafeRow = null
          family.rowsOf(state).foreach { row =>
            nth = if (row.key == last) nth + 1 else 0
            if (nth == 0) last = row.key.copy()
            sum += (row.key.hashCode, nth, row.value.hashCode).hashCode
            rows += 1
          }
          place -> (rows, sum)
        }
      }
    } yield digest
    digests.toMap
  }
}

package org.apache.spark.sql.keyfold

import java.io.FileNotFoundException

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path
import org.apache.spark.sql.execution.streaming.state.StateStoreId.DEFAULT_STORE_NAME

/** Stores that have state and that Spark's metadata of their operator lack. Spark writes the
  * metadata of most operators once, in the first attempt at the first batch, and keeps them if that
  * attempt was of another query than the one that commits the batch.
  *
  * @param state
  *   the checkpoint's folder of state, by any provider
  */
private[keyfold] final class UnlistedStores(state: Path, conf: Configuration) {
  private val files = SparkShim.CheckpointFileManager.create(state, conf)

  /** @param version
    *   whose files are looked for, in partition 0, which each operator has
    */
  def of(operator: CheckpointLogs.Operator, version: Long): Option[String] = {
    val first = new Path(state, s"${operator.id}/0")
    val inFolder = names(first)
    val others = inFolder.filterNot(operator.stores.contains).filter { name =>
      !name.contains('.') && has(version, names(new Path(first, name)))
    }
    others.headOption.orElse {
      Option.when(!operator.stores.contains(DEFAULT_STORE_NAME) && has(version, inFolder))(
        DEFAULT_STORE_NAME
      )
    }
  }

  private def has(version: Long, names: Seq[String]) =
    names.exists(it => it.startsWith(s"$version.") || it.startsWith(s"${version}_"))

  private def names(folder: Path): Seq[String] =
    try files.list(folder).toSeq.map(_.getPath.getName).sorted
    catch { case _: FileNotFoundException => Nil }
}

package io.keyfold.spark.admin.rollback

import io.keyfold.spark.checkpoint.{CheckpointFiles, FileSink}
import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path

/** Where a rollback sets entries of the log of a file sink aside. Spark does not run a batch that
  * this log has: its output would be missing, and its state too.
  *
  * The files that the batches have written stay where they are. Spark's readers go by the log.
  */
private[spark] object SinkAside {

  /** Readers of files skip names that begin with an underscore. */
  private val Home = "_keyfold"

  /** The folder of the sink's log. */
  val Log = "_spark_metadata"

  /** @param location
    *   the sink's folder
    * @param name
    *   of the rollback's folder
    */
  private[rollback] def of(location: String, name: String, conf: Configuration) =
    new Aside(location, Home, name, conf)

  /** The folders that have the entries of batches, by the name of their rollback.
    *
    * @param location
    *   the sink's folder
    */
  def holding(location: String, batches: Seq[Long], conf: Configuration): Seq[(String, String)] = {
    new CheckpointFiles(location, conf)
      .folders(Home)
      .filter { name =>
        val there = of(location, name, conf).files.map(FileSink.batchOf).toSet
        batches.forall(there)
      }
      .map(name => name -> s"${new Path(location, Home)}/$name/$Log")
  }
}

package io.keyfold.spark.admin.rollback

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path
import org.apache.spark.sql.keyfold.CheckpointLogs

/** Takes the log of a file sink back with its query, and restores it. Spark does not run a batch
  * that this log has: its output would be missing, and its state too.
  *
  * The files that the batches have written stay where they are. Spark's readers go by the log.
  *
  * @param name
  *   of the folder for the entries, in the folder of the sink
  */
private[spark] final class SinkAside(location: String, name: String, conf: Configuration) {
  private val aside = new Aside(location, SinkAside.Home, name, conf)

  /** Sets the entries of later batches aside, newest first. */
  def take(sink: CheckpointLogs.FileSink, batch: Long): Int =
    sink.entriesAfter(batch).count(aside.take)

  /** The batches of the entries. */
  def batches: Seq[Long] =
    if (aside.exists) aside.files.map(CheckpointLogs.FileSink.batchOf) else Nil

  /** Restores them, oldest first. */
  def giveBack(): Int = if (!aside.exists) 0
  else {
    val entries = aside.files.filterNot(aside.isBoth).sortBy(CheckpointLogs.FileSink.batchOf)
    entries.foreach(aside.giveBack)
    entries.length
  }
}

private[spark] object SinkAside {

  /** Readers of files skip names that begin with an underscore. */
  private val Home = "_keyfold"

  /** The folder of the sink's log. */
  val Log = "_spark_metadata"

  /** A folder that has the entry of a batch.
    *
    * @param location
    *   the sink's folder
    */
  def holding(location: String, batch: Long, conf: Configuration): Option[String] = {
    val home = new Path(location, Home)
    val fileSystem = home.getFileSystem(conf)
    val names =
      if (fileSystem.exists(home)) fileSystem.listStatus(home).toSeq.map(_.getPath.getName) else Nil
    names
      .find(new SinkAside(location, _, conf).batches.contains(batch))
      .map(name => s"$home/$name/$Log")
  }
}

package io.keyfold.spark.admin.rollback

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path
import org.apache.spark.sql.keyfold.FileSink

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
  def take(sink: FileSink, batch: Long): Int =
    sink.entriesAfter(batch).count(aside.take)

  /** Whether the sink's folder is where it was. */
  def isThere: Boolean = aside.isRootThere

  def entries: Seq[String] = if (aside.exists) aside.files else Nil

  /** The batches of the entries. */
  def batches: Seq[Long] = entries.map(FileSink.batchOf)

  /** An entry whose place in the log is taken by another. */
  def taken: Option[String] = left.find(aside.canTake)

  /** Restores them, oldest first. */
  def giveBack(): Int = {
    val entries = left.sortBy(FileSink.batchOf)
    entries.foreach(aside.giveBack)
    entries.length
  }

  private def left = if (aside.exists) aside.files.filterNot(aside.isBoth) else Nil
}

private[spark] object SinkAside {

  /** Readers of files skip names that begin with an underscore. */
  private val Home = "_keyfold"

  /** The folder of the sink's log. */
  val Log = "_spark_metadata"

  /** The folders that have the entries of batches, by the name of their rollback.
    *
    * @param location
    *   the sink's folder
    */
  def holding(location: String, batches: Seq[Long], conf: Configuration): Seq[(String, String)] = {
    val home = new Path(location, Home)
    val fileSystem = home.getFileSystem(conf)
    val names =
      if (fileSystem.exists(home)) fileSystem.listStatus(home).toSeq.map(_.getPath.getName) else Nil
    names
      .filter(name => batches.forall(new SinkAside(location, name, conf).batches.contains))
      .map(name => name -> s"$home/$name/$Log")
  }
}

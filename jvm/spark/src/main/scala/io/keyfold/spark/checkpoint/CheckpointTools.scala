package io.keyfold.spark.checkpoint

import scala.util.Using

import io.keyfold.errors.Invalid
import io.keyfold.format.FileKind
import io.keyfold.io.{BlobStore, RetryingBlobStore}
import io.keyfold.model.StoreLocation
import io.keyfold.rescale.VersionFiles
import org.apache.hadoop.fs.Path
import org.apache.spark.sql.SparkSession

/** Shared by operations on a whole checkpoint: its logs, its state files, and threads. */
private[spark] final class CheckpointTools(val session: SparkSession, checkpoint: String)
    extends AutoCloseable {
  import CheckpointTools.progress

  val logs = new CheckpointLogs(session, checkpoint)

  /** The checkpoint's files. */
  val blobs: BlobStore = new RetryingBlobStore(
    new HadoopBlobStore(new Path(logs.location), logs.hadoopConf),
    _ => ()
  )

  val files: CheckpointFiles = logs.files

  val parallel = new InParallel(CheckpointTools.Threads)

  /** The files that hold the state of a batch. Reads footers.
    *
    * @param ids
    *   of the state, by operator, partition and store; None under checkpoint format v1
    * @throws io.keyfold.errors.StoreError
    *   if one of them does not exist or cannot be read
    */
  def stateOf(batch: Long, ids: Option[Map[Long, Array[Array[String]]]]): Seq[String] = {
    val files = new VersionFiles(blobs, logs.partitions(batch).getOrElse(0), batch + 1, parallel)
    for {
      operator <- logs.operators(batch)
      (store, index) <- operator.stores.zipWithIndex
      path <- {
        progress(s"reading operator ${operator.id} (${operator.name}) store $store")
        val ofStore = logs.idsOfStore(batch, ids, operator.id, operator.stores.length, index)
        files.of(operator.id, store, ofStore)
      }
    } yield path
  }

  /** Paths of the state files of a store that are of a version or of later ones. */
  def filesSince(version: Long, store: StoreLocation): Seq[String] = blobs
    .list(store.folder)
    .filter(FileKind.parse(_).exists(_._1.version >= version))
    .map(name => s"${store.folder}/$name")

  override def close(): Unit = {
    parallel.close()
    blobs.close()
  }
}

private[spark] object CheckpointTools {

  /** Concurrent file operations, which mostly wait: on S3 for 25 ms or more each. */
  private val Threads = 32

  /** What each plan warns of that changes a stopped query's checkpoint. */
  val MustBeStopped: String =
    "Keyfold cannot see whether the query runs in another application; it must be stopped"

  /** @throws io.keyfold.errors.Invalid
    *   if there are refusals, which are sentences
    */
  def requireNone(refusals: Seq[String], condition: String, task: String): Unit =
    if (refusals.nonEmpty) {
      val why = refusals.mkString(" ")
      throw new Invalid(condition, s"Cannot $task: $why Nothing was changed.")
    }

  /** Prints progress to the standard error stream. */
  def progress(line: String): Unit = System.err.println(s"keyfold: $line")

  def using[T](session: SparkSession, checkpoint: String)(body: CheckpointTools => T): T =
    Using.resource(new CheckpointTools(session, checkpoint))(body)
}

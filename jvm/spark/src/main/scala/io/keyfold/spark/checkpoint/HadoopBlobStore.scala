package io.keyfold.spark.checkpoint

import java.io.{FileNotFoundException, OutputStream}

import io.keyfold.io.{BlobReader, BlobStore, ListedFile}
import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{FSDataInputStream, FileStatus, Path}
import org.apache.spark.sql.keyfold.SparkShim

/** Files of a checkpoint, through Spark's checkpoint file manager, whose guarantees for a file
  * system decide how far G1 to G5 hold there. It makes a file visible when its stream is closed.
  *
  * @param root
  *   the checkpoint
  */
final class HadoopBlobStore(root: Path, conf: Configuration) extends BlobStore {
  private lazy val fileSystem = root.getFileSystem(conf)
  private lazy val manager = {
    // Both by the thread that comes first: Hadoop takes the user from the thread.
    fileSystem
    FileManagers.configured(root, conf)
  }

  /** The manager, if it does more for objects than Spark's managers can be asked for. */
  private def objects = Option(manager).collect { case it: ObjectFileManager => it }

  override def write(path: String)(body: OutputStream => Unit): Long =
    CheckpointFiles.write(manager, resolve(path), replaces = true)(body)

  override def open(path: String): BlobReader = open(fileSystem.getFileStatus(resolve(path)))

  override def open(path: String, listed: ListedFile): BlobReader = listed match {
    case known: HadoopListedFile => open(known.status)
    case _                       => open(path)
  }

  private def open(file: FileStatus): BlobReader = objects match {
    case Some(its) => new ObjectReader(its, file)
    case None      => new HadoopBlobReader(manager.open(file.getPath), file.getLen)
  }

  override def exists(path: String): Boolean =
    objects.fold(manager.exists(resolve(path)))(_.fileExists(resolve(path)))

  override def files(folder: String): Map[String, ListedFile] =
    try {
      val found = manager.list(resolve(folder)).filter(_.isFile)
      found.map(it => it.getPath.getName -> new HadoopListedFile(it)).toMap
    } catch { case _: FileNotFoundException => Map.empty }

  override def delete(path: String): Unit =
    objects.fold(manager.delete(resolve(path)))(_.deleteFile(resolve(path)))

  override def clientRetries(): Long = objects.fold(0L)(_.clientRetries())

  override def describe(path: String): String = resolve(path).toString

  /** A task that comes too late fails if the file systems were the store's own, and is tried again.
    */
  override def close(): Unit = {
    SparkShim.close(manager)
    FileManagers.release(fileSystem)
  }

  private def resolve(path: String) = new Path(root, path)
}

private final class HadoopListedFile(val status: FileStatus) extends ListedFile(status.getLen)

private final class HadoopBlobReader(in: FSDataInputStream, override val length: Long)
    extends BlobReader {
  override def read(position: Long, count: Int): Array[Byte] = {
    val bytes = new Array[Byte](count)
    in.readFully(position, bytes)
    bytes
  }

  override def close(): Unit = in.close()
}

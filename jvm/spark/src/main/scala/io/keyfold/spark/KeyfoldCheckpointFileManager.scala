package io.keyfold.spark

import io.keyfold.spark.checkpoint.FileManagers
import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{FSDataInputStream, FileStatus, Path, PathFilter}
import org.apache.spark.sql.keyfold.SparkShim

/** Writes and reads the files of a checkpoint with as few calls as its file system allows: for
  * Spark's logs, the class of `spark.sql.streaming.checkpointFileManagerClass`; for state files,
  * the default. It does as Spark's own managers do, and checkpoints may change from one to the
  * other.
  *
  * On local disks it does without Hadoop's file system, on S3A a file is one request; elsewhere it
  * is Spark's own choice.
  */
final class KeyfoldCheckpointFileManager(path: Path, conf: Configuration)
    extends SparkShim.ClosableFileManager {
  private val manager = FileManagers.of(path, conf)

  override def createAtomic(path: Path, overwriteIfPossible: Boolean): SparkShim.CancellableStream =
    manager.createAtomic(path, overwriteIfPossible)

  override def open(path: Path): FSDataInputStream = manager.open(path)
  override def list(path: Path, filter: PathFilter): Array[FileStatus] = manager.list(path, filter)
  override def mkdirs(path: Path): Unit = manager.mkdirs(path)
  override def exists(path: Path): Boolean = manager.exists(path)
  override def delete(path: Path): Unit = manager.delete(path)
  override def isLocal: Boolean = manager.isLocal
  override def createCheckpointDirectory(): Path = manager.createCheckpointDirectory()
  override def close(): Unit = SparkShim.close(manager)
}

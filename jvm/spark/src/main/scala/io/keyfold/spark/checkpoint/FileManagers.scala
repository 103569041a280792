package io.keyfold.spark.checkpoint

import io.keyfold.spark.conf.KeyfoldConf
import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.local.LocalFs
import org.apache.hadoop.fs.{LocalFileSystem, Path, RawLocalFileSystem}
import org.apache.spark.sql.keyfold.SparkShim

/** The checkpoint file manager for a path, by what its file system is. */
object FileManagers {

  /** What a query has been told to use, or [[of]]. */
  def configured(path: Path, conf: Configuration): SparkShim.CheckpointFileManager =
    if (conf.get(SparkShim.FileManagerKey) == null) of(path, conf)
    else SparkShim.checkpointFileManager(path, conf)

  /** Keyfold's for local disks; otherwise Spark's own choice. */
  def of(path: Path, conf: Configuration): SparkShim.CheckpointFileManager =
    path.getFileSystem(conf) match {
      case local: LocalFileSystem if isPlain(local, conf) =>
        new LocalFileManager(path, local, KeyfoldConf.filesForced(conf.get))
      case _ =>
        val own = new Configuration(conf)
        own.unset(SparkShim.FileManagerKey)
        SparkShim.checkpointFileManager(path, own)
    }

  /** Whether nobody has put a file system of their own in its place. */
  private def isPlain(local: LocalFileSystem, conf: Configuration): Boolean =
    local.getClass == classOf[LocalFileSystem] &&
      local.getRawFileSystem.getClass == classOf[RawLocalFileSystem] &&
      conf.get("fs.AbstractFileSystem.file.impl", classOf[LocalFs].getName) == classOf[
        LocalFs
      ].getName
}

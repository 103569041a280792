package io.keyfold.spark.checkpoint

import io.keyfold.spark.conf.KeyfoldConf
import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.local.LocalFs
import org.apache.hadoop.fs._
import org.apache.spark.sql.keyfold.{SparkPrivate, SparkShim}

/** The checkpoint file manager for a path, by what its file system is. */
object FileManagers {

  /** The class of Keyfold's own, for Spark's setting: what [[of]] gives. */
  private val Keyfolds = "io.keyfold.spark.KeyfoldCheckpointFileManager"

  /** What a query has been told to use, or [[of]]. */
  def configured(path: Path, conf: Configuration): SparkShim.CheckpointFileManager =
    if (conf.get(SparkPrivate.FileManagerKey, Keyfolds) == Keyfolds) of(path, conf)
    else SparkShim.CheckpointFileManager.create(path, conf)

  /** Keyfold's for local disks and for object stores that show a file when it is closed; otherwise
    * Spark's own choice.
    */
  def of(path: Path, conf: Configuration): SparkShim.CheckpointFileManager =
    if (isLocalDisk(path, conf)) {
      val local = new LocalFileSystem
      local.initialize(FsConstants.LOCAL_FS_URI, conf)
      new LocalFileManager(path, local, KeyfoldConf.filesForced(conf.get))
    } else {
      val fileSystem = path.getFileSystem(conf)
      if (fileSystem.hasPathCapability(path, ObjectFileManager.Capability)) {
        val conditional = ConditionalWrites.of(fileSystem, path)
        new ObjectFileManager(path, fileSystem, conditional, () => sparks(path, conf))
      } else {
        release(fileSystem)
        sparks(path, conf)
      }
    }

  /** Whether a file can be replaced in one step, so that it is never absent. */
  def canReplace(path: Path, conf: Configuration): Boolean = configured(path, conf) match {
    case _: LocalFileManager | _: ObjectFileManager => true
    case _: SparkShim.FileManagerWithoutReplace     => false
    case _ => AtomicRename.contains(path.getFileSystem(conf).getUri.getScheme)
  }

  /** The error of a file that must not replace another. */
  private[checkpoint] def existsAlready(
      path: Path,
      cause: Throwable
  ): FileAlreadyExistsException = {
    val e = new FileAlreadyExistsException(s"Cannot create $path: it exists already")
    e.initCause(cause)
    e
  }

  /** Schemes of file systems that rename a file to the name of another in one step. */
  private val AtomicRename = Set("file", "hdfs", "viewfs", "abfs", "abfss")

  /** To be called by who has got a file system from Hadoop and needs it no more. With its cache
    * switched off, each has threads and connections of its own; otherwise others use it too.
    */
  def release(fileSystem: FileSystem): Unit = {
    val scheme = fileSystem.getUri.getScheme
    if (fileSystem.getConf.getBoolean(s"fs.$scheme.impl.disable.cache", false)) fileSystem.close()
  }

  private def sparks(path: Path, conf: Configuration) = {
    val own = new Configuration(conf)
    own.unset(SparkPrivate.FileManagerKey)
    SparkShim.CheckpointFileManager.create(path, own)
  }

  /** Whether the path is of a local disk and no settings put another file system in its place. The
    * file system itself does not tell: Hive's jars, which PySpark has, bring one for `file:`.
    */
  private def isLocalDisk(path: Path, conf: Configuration): Boolean = {
    val scheme =
      Option(path.toUri.getScheme).getOrElse(FileSystem.getDefaultUri(conf).getScheme)
    def is(key: String, expected: Class[_]) =
      conf.get(key, expected.getName) == expected.getName
    scheme == FsConstants.LOCAL_FS_URI.getScheme &&
    is("fs.file.impl", classOf[LocalFileSystem]) &&
    is("fs.AbstractFileSystem.file.impl", classOf[LocalFs])
  }
}

package org.apache.spark.sql.keyfold

import java.io.FileNotFoundException
import java.nio.charset.StandardCharsets.UTF_8

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{FileStatus, Path}
import org.apache.hadoop.io.IOUtils

/** The files of a checkpoint, through Spark's checkpoint file manager, by path relative to its
  * folder.
  */
final class CheckpointFiles(folder: String, conf: Configuration) {
  import CheckpointFiles._

  private val root = {
    val path = new Path(folder)
    path.getFileSystem(conf).makeQualified(path)
  }
  private val manager = SparkShim.checkpointFileManager(root, conf)

  /** The folder, with scheme. */
  def location: String = root.toString

  def resolve(path: String): Path = new Path(root, path)

  /** The files in a folder; none if it is not there. Hidden ones are left out. */
  def list(path: String): Seq[FileSize] = visible(path).filter(_.isFile).map(size(path, _))

  /** Whether nothing is in it, not even a folder or a hidden file. */
  def isEmpty: Boolean = entries("").isEmpty

  /** The file of that path, be it hidden, or the files below the folder. */
  def below(path: String): Seq[FileSize] = {
    val slash = path.lastIndexOf('/')
    val folder = path.take(math.max(slash, 0))
    val file = entries(folder).filter(it => it.isFile && it.getPath.getName == path.drop(slash + 1))
    if (file.nonEmpty) file.map(size(folder, _)) else walk(path)
  }

  /** The files below a folder, at any depth. */
  def walk(path: String): Seq[FileSize] = list(path) ++ visible(path)
    .filter(_.isDirectory)
    .flatMap(directory => walk(s"$path/${directory.getPath.getName}"))

  /** Copies a file to the same place below another folder; it is there whole or not at all.
    *
    * @throws java.io.FileNotFoundException
    *   if it is not there
    */
  def copy(path: String, to: CheckpointFiles): Unit = {
    val in = manager.open(resolve(path))
    try to.write(path)(IOUtils.copyBytes(in, _, BufferBytes, false))
    finally in.close()
  }

  def write(path: String, text: String): Unit = write(path)(_.write(text.getBytes(UTF_8)))

  def delete(path: String): Unit = manager.delete(resolve(path))

  private def write(path: String)(body: java.io.OutputStream => Unit): Unit = {
    val file = resolve(path)
    manager.mkdirs(file.getParent)
    val out = manager.createAtomic(file, overwriteIfPossible = false)
    try {
      body(out)
      out.close()
    } catch {
      case e: Throwable =>
        out.cancel()
        throw e
    }
  }

  private def size(folder: String, file: FileStatus) = FileSize(
    s"$folder/${file.getPath.getName}".stripPrefix("/"),
    file.getLen,
    file.getModificationTime
  )

  private def visible(path: String) = entries(path).filterNot(_.getPath.getName.startsWith("."))

  private def entries(path: String): Seq[FileStatus] =
    try manager.list(if (path.isEmpty) root else resolve(path)).toSeq
    catch { case _: FileNotFoundException => Nil }
}

object CheckpointFiles {

  /** @param path
    *   relative to the checkpoint
    * @param modifiedMs
    *   since 1970; 0 if it was not asked for
    */
  final case class FileSize(path: String, bytes: Long, modifiedMs: Long = 0) {
    def name: String = path.drop(path.lastIndexOf('/') + 1)
  }

  private val BufferBytes = 1 << 20
  private val Temporary = """\..+\.[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}(\.TID\d+)?\.tmp"""

  /** Whether Spark's checkpoint file manager gives a file this name while it is written. One whose
    * writer has been killed stays.
    */
  def isTemporary(name: String): Boolean = name.matches(Temporary)
}

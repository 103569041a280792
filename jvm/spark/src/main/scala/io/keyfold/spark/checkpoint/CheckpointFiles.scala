package io.keyfold.spark.checkpoint

import java.io.{FileNotFoundException, IOException, OutputStream}
import java.nio.charset.StandardCharsets.UTF_8

import scala.util.Using

import io.keyfold.rescale.StorePlanner.{InTurn, Parallel}
import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{FileStatus, Path}
import org.apache.hadoop.io.IOUtils
import org.apache.spark.sql.keyfold.SparkShim

/** The files of a checkpoint, through Spark's checkpoint file manager, by path relative to its
  * folder.
  */
final class CheckpointFiles(folder: String, conf: Configuration) {
  import CheckpointFiles._

  private val root = {
    val path = new Path(folder)
    path.getFileSystem(conf).makeQualified(path)
  }
  private val manager = SparkShim.CheckpointFileManager.create(root, conf)
  private lazy val fileSystem = root.getFileSystem(conf)

  /** The folder, with scheme. */
  def location: String = root.toString

  /** Whether a file can be replaced in one step, so that it is never absent. */
  def canReplace: Boolean = FileManagers.canReplace(root, conf)

  def resolve(path: String): Path = new Path(root, path)

  /** The files in a folder, without hidden ones; empty if the folder does not exist. */
  def list(path: String): Seq[FileSize] = visible(path).filter(_.isFile).map(size(path, _))

  /** Names of the folders in a folder, without hidden ones; empty if it does not exist. */
  def folders(path: String): Seq[String] =
    visible(path).filter(_.isDirectory).map(_.getPath.getName)

  /** Names of the files and folders in a folder, hidden ones too; empty if it does not exist. */
  def names(path: String): Seq[String] = entries(path).map(_.getPath.getName)

  /** Whether the folder is empty, without even folders or hidden files. */
  def isEmpty: Boolean = entries("").isEmpty

  /** The file with this path, hidden or not, or else the files below this folder. */
  def below(path: String): Seq[FileSize] = {
    val slash = path.lastIndexOf('/')
    val folder = path.take(math.max(slash, 0))
    val file = entries(folder).filter(it => it.isFile && it.getPath.getName == path.drop(slash + 1))
    if (file.nonEmpty) file.map(size(folder, _)) else walk(path)
  }

  /** The files below a folder, at any depth, without hidden ones.
    *
    * @param path
    *   empty: all files
    * @param parallel
    *   lists the folders of one depth
    */
  def walk(path: String, parallel: Parallel = InTurn): Seq[FileSize] =
    filesBelow(Seq(path), parallel)

  private def filesBelow(folders: Seq[String], parallel: Parallel): Seq[FileSize] =
    if (folders.isEmpty) Nil
    else {
      val listed = parallel(folders)(visible).zip(folders)
      val files = for ((its, folder) <- listed; it <- its if it.isFile) yield size(folder, it)
      val deeper =
        for ((its, folder) <- listed; it <- its if it.isDirectory) yield pathOf(folder, it)
      files ++ filesBelow(deeper, parallel)
    }

  /** Copies a file atomically to the same path below another folder.
    *
    * @param replaces
    *   whether a file may be there, which is then replaced
    * @throws java.io.FileNotFoundException
    *   if it does not exist
    */
  def copy(path: String, to: CheckpointFiles, replaces: Boolean = false): Unit = {
    Using.resource(manager.open(resolve(path))) { in =>
      to.write(path, replaces)(IOUtils.copyBytes(in, _, BufferBytes, false))
    }
  }

  /** Creates a file, of all that try at once for one only.
    *
    * @throws org.apache.hadoop.fs.FileAlreadyExistsException
    *   if it exists
    */
  def write(path: String, bytes: Array[Byte]): Unit = write(path, replaces = false)(_.write(bytes))

  /** The content of a small file; None if it does not exist. */
  def read(path: String): Option[Array[Byte]] =
    try Some(Using.resource(manager.open(resolve(path)))(_.readAllBytes()))
    catch { case _: FileNotFoundException => None }

  /** Gives a file new content. Where the file manager can, readers see the old one or the new one.
    */
  def replace(path: String, bytes: Array[Byte]): Unit =
    write(path, replaces = true)(_.write(bytes))

  /** The lines of a small text file; none if it does not exist. */
  def lines(path: String): Seq[String] =
    read(path).toSeq.flatMap(new String(_, UTF_8).linesIterator)

  /** Gives a text file new lines, as [[replace]] does. */
  def replaceLines(path: String, lines: Seq[String]): Unit =
    replace(path, lines.map(it => s"$it\n").mkString.getBytes(UTF_8))

  def exists(path: String): Boolean = manager.exists(resolve(path))

  def delete(path: String): Unit = manager.delete(resolve(path))

  /** Deletes everything, if anything is there. */
  def deleteAll(): Unit = {
    fileSystem.delete(root, true)
    ()
  }

  /** Whether a file is as it was when it was listed. */
  def isUnchanged(file: FileSize): Boolean = {
    val now = entries(file.path)
    now.lengthIs == 1 && now.head.isFile && file.bytes == now.head.getLen &&
    file.modifiedMs == now.head.getModificationTime
  }

  /** Deletes a folder if there are no files at any depth below it, or else those folders below it
    * that have none. The file system itself refuses to delete a folder with a file in it, also with
    * one that comes just now.
    *
    * @param path
    *   empty: of all
    */
  def deleteEmptyFolders(path: String): Unit = {
    folders(path).foreach(name => deleteEmptyFolders(s"$path/$name".stripPrefix("/")))
    try fileSystem.delete(if (path.isEmpty) root else resolve(path), false)
    catch { case _: IOException => }
    ()
  }

  private def write(path: String, replaces: Boolean)(body: OutputStream => Unit): Unit = {
    CheckpointFiles.write(manager, resolve(path), replaces)(body)
    ()
  }

  private def size(folder: String, file: FileStatus) =
    FileSize(pathOf(folder, file), file.getLen, file.getModificationTime)
  private def pathOf(folder: String, entry: FileStatus) =
    s"$folder/${entry.getPath.getName}".stripPrefix("/")

  private def visible(path: String) = entries(path).filterNot(_.getPath.getName.startsWith("."))

  private def entries(path: String): Seq[FileStatus] =
    try manager.list(if (path.isEmpty) root else resolve(path)).toSeq
    catch { case _: FileNotFoundException => Nil }
}

object CheckpointFiles {

  /** Writes a file, which is visible once it is whole.
    *
    * @return
    *   its length
    */
  def write(manager: SparkShim.CheckpointFileManager, file: Path, replaces: Boolean)(
      body: OutputStream => Unit
  ): Long = {
    val out = begin(manager, file, replaces)
    try {
      body(out)
      val length = out.getPos
      out.close()
      length
    } catch {
      case e: Throwable =>
        try out.cancel()
        catch { case suppressed: Throwable => e.addSuppressed(suppressed) }
        throw e
    }
  }

  /** Its folder exists nearly always: it is made where a file system says that it does not. */
  private def begin(manager: SparkShim.CheckpointFileManager, file: Path, replaces: Boolean) =
    try manager.createAtomic(file, replaces)
    catch {
      case _: FileNotFoundException =>
        manager.mkdirs(file.getParent)
        manager.createAtomic(file, replaces)
    }

  /** The last part of a path. */
  def nameOf(path: String): String = path.drop(path.lastIndexOf('/') + 1)

  /** @param path
    *   relative to the checkpoint
    * @param modifiedMs
    *   milliseconds since 1970; 0 if not known
    */
  final case class FileSize(path: String, bytes: Long, modifiedMs: Long = 0) {
    def name: String = nameOf(path)
  }

  private val BufferBytes = 1 << 20
  private val Temporary = """\..+\.[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}(\.TID\d+)?\.tmp"""

  /** Whether this is the path, or the name, of a temporary file of Spark's checkpoint file manager.
    * Such a file remains if its writer is killed.
    */
  def isTemporary(path: String): Boolean = nameOf(path).matches(Temporary)
}

package io.keyfold.spark.checkpoint

import java.io.{EOFException, FileNotFoundException, IOException, RandomAccessFile}
import java.nio.file.attribute.BasicFileAttributes
import java.nio.file.{
  AccessDeniedException,
  FileAlreadyExistsException,
  Files,
  InvalidPathException,
  LinkOption,
  NoSuchFileException,
  NotDirectoryException,
  Path => LocalPath
}

import scala.jdk.CollectionConverters._
import scala.util.Using

import io.keyfold.errors.Invalid
import io.keyfold.io.AtomicFile
import org.apache.hadoop.fs._
import org.apache.spark.sql.keyfold.SparkShim

/** Checkpoint files of a local file system, without Hadoop's: that starts a process for each file
  * (`chmod`, `readlink`) and writes a `.crc` file beside it.
  *
  * A file that is not to replace another is made visible by a hard link, so that of two writers one
  * is refused.
  *
  * @param forced
  *   whether files are forced to disk
  */
private[checkpoint] final class LocalFileManager(
    path: Path,
    fileSystem: LocalFileSystem,
    forced: Boolean
) extends SparkShim.CheckpointFileManager {

  override def createAtomic(
      path: Path,
      overwriteIfPossible: Boolean
  ): SparkShim.CancellableStream = {
    val file = new AtomicFile(local(path), forced)
    new WholeFile(file.out)(create(file, path, overwriteIfPossible))(file.cancel())
  }

  private def create(file: AtomicFile, path: Path, replaces: Boolean): Unit = {
    // Hadoop would check the new file by the checksums of an older one of its name.
    Files.deleteIfExists(LocalFileManager.checksumOf(local(path)))
    try if (replaces) file.replace() else file.create()
    catch { case e: FileAlreadyExistsException => throw FileManagers.existsAlready(path, e) }
  }

  override def open(path: Path): FSDataInputStream =
    new FSDataInputStream(
      new BufferedFSInputStream(new LocalInput(local(path)), LocalFileManager.BufferBytes)
    )

  override def list(path: Path, filter: PathFilter): Array[FileStatus] =
    try
      Using.resource(Files.newDirectoryStream(local(path)))(
        _.asScala
          // By parts: a name with a colon, such as Windows leaves, is no scheme.
          .map(it => it -> new Path(path, new Path(null, null, it.getFileName.toString)))
          .filter { case (_, child) => filter.accept(child) }
          .flatMap { case (it, child) => status(it, child) }
          .toArray
      )
    catch {
      case _: NoSuchFileException   => throw new FileNotFoundException(s"There is no folder $path")
      case _: NotDirectoryException => status(local(path), path).toArray
    }

  /** None if it was deleted since it was listed. */
  private def status(file: LocalPath, path: Path): Option[FileStatus] =
    try {
      val its = Files.readAttributes(file, classOf[BasicFileAttributes])
      val modifiedMs = its.lastModifiedTime.toMillis
      val qualified = fileSystem.makeQualified(path)
      Some(new FileStatus(its.size, its.isDirectory, 1, BlockBytes, modifiedMs, qualified))
    } catch { case _: NoSuchFileException => None }

  private def BlockBytes = fileSystem.getDefaultBlockSize(path)

  override def mkdirs(path: Path): Unit = {
    Files.createDirectories(local(path))
    ()
  }

  override def exists(path: Path): Boolean = Files.exists(local(path))

  override def delete(path: Path): Unit = {
    val file = local(path)
    try {
      if (!Files.isDirectory(file)) Files.deleteIfExists(LocalFileManager.checksumOf(file))
      LocalFileManager.delete(file)
    } catch { case _: NoSuchFileException => }
  }

  override def isLocal: Boolean = true

  override def createCheckpointDirectory(): Path = {
    mkdirs(path)
    fileSystem.makeQualified(path)
  }

  private def local(path: Path): LocalPath =
    try fileSystem.pathToFile(path).toPath
    catch {
      case e: InvalidPathException =>
        throw new Invalid(
          "KEYFOLD_INVALID_ARGUMENT",
          s"The path $path has characters that this Java cannot write in the machine's encoding of " +
            s"names, ${System.getProperty("sun.jnu.encoding")}: ${e.getReason}. Start Spark in a " +
            "locale with UTF-8, for example with LC_ALL=C.UTF-8. The file was not looked at.",
          e
        )
    }
}

private object LocalFileManager {
  val BufferBytes: Int = 64 * 1024

  /** Where Hadoop has the checksums of a file that its own writer has written. */
  def checksumOf(file: LocalPath): LocalPath = file.resolveSibling(s".${file.getFileName}.crc")

  /** Deletes a file, or a folder with all that is in it; of a link only the link. */
  def delete(file: LocalPath): Unit = {
    if (Files.isDirectory(file, LinkOption.NOFOLLOW_LINKS)) {
      Using.resource(Files.newDirectoryStream(file))(_.forEach(delete(_)))
    }
    Files.deleteIfExists(file)
    ()
  }
}

/** Reads by `java.io`: a channel is closed under its thread when that is interrupted. */
private final class LocalInput(path: LocalPath) extends FSInputStream {
  private val file =
    try new RandomAccessFile(path.toFile, "r")
    catch {
      // It also says so of a file that may not be read, or if too many files are open.
      case e: FileNotFoundException if Files.exists(path) =>
        throw (
          if (Files.isReadable(path)) new IOException(e.getMessage, e)
          else new AccessDeniedException(path.toString)
        )
    }

  override def seek(position: Long): Unit = {
    if (position < 0 || position > file.length) throw new EOFException(s"$position of $path")
    file.seek(position)
  }

  override def getPos: Long = file.getFilePointer
  override def seekToNewSource(target: Long): Boolean = false
  override def read(): Int = file.read()
  override def read(into: Array[Byte], offset: Int, count: Int): Int =
    file.read(into, offset, count)
  override def available(): Int = math.min(file.length - getPos, Int.MaxValue.toLong).toInt
  override def close(): Unit = file.close()
}

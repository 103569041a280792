package io.keyfold.spark.checkpoint

import java.io.{FileNotFoundException, IOException}
import java.util.Collections
import java.util.concurrent.ConcurrentHashMap

import scala.util.Using

import org.apache.hadoop.fs._
import org.apache.hadoop.util.functional.FutureIO
import org.apache.spark.sql.keyfold.SparkShim

/** Checkpoint files of an object store: one PUT a file, whole when it is visible, and no rename.
  *
  * A file that is not to replace another is written by a conditional PUT, so that of two writers
  * one is refused. That also makes it safe to answer `exists` from memory for the next entry of a
  * log that this manager writes: it is asked before the entry is created, and the store decides.
  *
  * @param conditional
  *   writes what must not replace an object, if the file system can
  * @param sparks
  *   writes it if not
  */
private[checkpoint] final class ObjectFileManager(
    path: Path,
    fileSystem: FileSystem,
    conditional: Option[ConditionalWrites],
    sparks: () => SparkShim.CheckpointFileManager
) extends SparkShim.ClosableFileManager {

  /** For each folder, the highest number that this manager has written a file under. Listings do
    * not count: who only reads a log waits for what others write to it.
    */
  private val highest = new ConcurrentHashMap[Path, java.lang.Long]

  override def createAtomic(path: Path, overwriteIfPossible: Boolean): SparkShim.CancellableStream =
    if (overwriteIfPossible) {
      val out = ObjectFileManager.put(fileSystem, path)
      new WholeFile(out)(out.close())(ObjectFileManager.drop(out))
    } else
      conditional.filterNot(_.areIgnored).fold(other.createAtomic(path, overwriteIfPossible)) {
        writes =>
          val bytes = new ConditionalBytes(writes, path)
          new WholeFile(bytes)(create(path, bytes))(bytes.abort())
      }

  private def create(path: Path, bytes: ConditionalBytes): Unit = {
    bytes.close()
    number(path).foreach(it => highest.merge(path.getParent, it, (a, b) => math.max(a, b)))
  }

  /** One for all files, since each has clients of its own. */
  private lazy val other = sparks()

  /** How often the file system's client has sent a request again since it was last asked. */
  def clientRetries(): Long = ClientRetries.sinceLast(fileSystem)

  override def open(path: Path): FSDataInputStream = fileSystem.open(path)

  /** @param file
    *   as it was listed: costs fewer requests
    * @param policy
    *   how it is going to be read: a name that Hadoop's `fs.option.openfile.read.policy` has
    */
  def openFile(file: FileStatus, policy: String): FSDataInputStream = {
    val builder = fileSystem.openFile(file.getPath)
    builder.withFileStatus(file)
    builder.opt("fs.option.openfile.read.policy", policy)
    FutureIO.awaitFuture(builder.build())
  }

  override def list(path: Path, filter: PathFilter): Array[FileStatus] =
    fileSystem.listStatus(path, filter)

  override def mkdirs(path: Path): Unit = {
    fileSystem.mkdirs(path)
    ()
  }

  override def exists(path: Path): Boolean = {
    val isNext = isEntry(path)(_ > _) && conditional.exists(_.areHonoured)
    !isNext && fileSystem.exists(path)
  }

  override def delete(path: Path): Unit =
    if (isEntry(path)(_ <= _)) deleteFile(path)
    else {
      fileSystem.delete(path, true)
      ()
    }

  /** Whether it is an entry of a log that this manager writes, and its number compares so with the
    * highest one written.
    */
  private def isEntry(path: Path)(compares: (Long, Long) => Boolean) = {
    val written = highest.get(path.getParent)
    written != null && number(path).exists(compares(_, written))
  }

  /** Whether there is such a file; a folder of the name is none. To open it takes one request, a
    * question for its status also looks for such a folder.
    */
  def fileExists(path: Path): Boolean =
    try {
      fileSystem.open(path).close()
      true
    } catch { case _: FileNotFoundException => false }

  /** Deletes a file, by fewer requests than what may be a folder; it is no error if there is none.
    */
  def deleteFile(path: Path): Unit = {
    val file = fileSystem.makeQualified(path)
    Using.resource(fileSystem.createBulkDelete(file.getParent)) {
      _.bulkDelete(Collections.singleton(file)).forEach { failed =>
        throw new IOException(s"Cannot delete ${failed.getKey}: ${failed.getValue}")
      }
    }
  }

  override def isLocal: Boolean = false

  override def close(): Unit = FileManagers.release(fileSystem)

  override def createCheckpointDirectory(): Path = {
    mkdirs(path)
    fileSystem.makeQualified(path)
  }

  private def number(path: Path): Option[Long] = path.getName.toLongOption.filter(_ >= 0)
}

private[checkpoint] object ObjectFileManager {

  /** What a file system must be capable of for this manager. */
  val Capability = "fs.s3a.create.performance"

  /** Begins a PUT that looks for nothing before it.
    *
    * @param options
    *   further ones that the file system must know
    */
  def put(fileSystem: FileSystem, path: Path, options: (String, String)*): FSDataOutputStream = {
    val builder: FSDataOutputStreamBuilder[_ <: FSDataOutputStream, _] = fileSystem.createFile(path)
    builder.overwrite(true)
    builder.must(Capability, true)
    options.foreach { case (key, value) => builder.must(key, value) }
    builder.build()
  }

  /** Gives up a PUT; does nothing after it has ended. */
  def drop(out: FSDataOutputStream): Unit = {
    out.abort()
    ()
  }
}

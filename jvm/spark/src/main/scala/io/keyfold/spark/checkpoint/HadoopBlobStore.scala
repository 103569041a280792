package io.keyfold.spark.checkpoint

import java.io.{FileNotFoundException, OutputStream}
import java.util.concurrent.ConcurrentHashMap

import io.keyfold.io.{BlobReader, BlobStore}
import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{FSDataInputStream, Path}
import org.apache.spark.sql.keyfold.SparkShim

/** Files of a checkpoint, through Spark's checkpoint file manager, whose guarantees for a file
  * system decide how far G1 to G5 hold there. It makes a file visible when its stream is closed.
  *
  * @param root
  *   the checkpoint's `state` folder
  */
final class HadoopBlobStore(root: Path, conf: Configuration) extends BlobStore {
  private lazy val manager = SparkShim.checkpointFileManager(root, conf)
  private lazy val fileSystem = root.getFileSystem(conf)

  /** Folders known to exist. */
  private val folders = ConcurrentHashMap.newKeySet[Path]()

  override def write(path: String)(body: OutputStream => Unit): Long = {
    val file = resolve(path)
    if (!folders.contains(file.getParent)) {
      manager.mkdirs(file.getParent)
      folders.add(file.getParent)
    }
    val out = manager.createAtomic(file, overwriteIfPossible = true)
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

  override def open(path: String): BlobReader = {
    val file = resolve(path)
    val length = fileSystem.getFileStatus(file).getLen
    new HadoopBlobReader(manager.open(file), length)
  }

  override def exists(path: String): Boolean = manager.exists(resolve(path))

  override def lengths(folder: String): Map[String, Long] =
    try manager.list(resolve(folder)).filter(_.isFile).map(f => f.getPath.getName -> f.getLen).toMap
    catch { case _: FileNotFoundException => Map.empty }

  override def delete(path: String): Unit = manager.delete(resolve(path))

  override def describe(path: String): String = resolve(path).toString

  override def close(): Unit = manager.close()

  private def resolve(path: String) = new Path(root, path)
}

private[spark] final class HadoopBlobReader(in: FSDataInputStream, override val length: Long)
    extends BlobReader {
  override def read(position: Long, count: Int): Array[Byte] = {
    val bytes = new Array[Byte](count)
    in.readFully(position, bytes)
    bytes
  }

  override def close(): Unit = in.close()
}

package io.keyfold.testkit

import java.io.{EOFException, FileNotFoundException, OutputStream}
import java.nio.ByteBuffer
import java.nio.channels.FileChannel
import java.nio.file.{Files, NoSuchFileException, Path}
import java.nio.file.StandardOpenOption.READ

import io.keyfold.io.{AtomicFile, BlobReader, BlobStore, ListedFile}

/** Files of a local file system: written to a temporary file in the same folder, forced to disk,
  * then renamed.
  */
final class LocalBlobStore(root: Path) extends BlobStore {

  override def write(path: String)(body: OutputStream => Unit): Long = {
    val target = root.resolve(path)
    Files.createDirectories(target.getParent)
    val file = new AtomicFile(target, forced = true)
    try {
      body(file.out)
      file.replace()
      Files.size(target)
    } finally file.cancel()
  }

  override def open(path: String): BlobReader =
    try new LocalBlobReader(FileChannel.open(root.resolve(path), READ), path)
    catch {
      case e: NoSuchFileException =>
        throw new FileNotFoundException(path).initCause(e)
    }

  override def exists(path: String): Boolean = Files.exists(root.resolve(path))

  override def files(folder: String): Map[String, ListedFile] = {
    val directory = root.resolve(folder)
    if (!Files.isDirectory(directory)) Map.empty
    else {
      val found = Map.newBuilder[String, ListedFile]
      val there = Files.newDirectoryStream(directory)
      try there.forEach(f => found ++= listed(f).map(f.getFileName.toString -> _))
      finally there.close()
      found.result()
    }
  }

  /** None if it is not a file, or was deleted since it was listed. */
  private def listed(path: Path): Option[ListedFile] =
    try Option.when(Files.isRegularFile(path))(new ListedFile(Files.size(path)))
    catch { case _: NoSuchFileException => None }

  override def delete(path: String): Unit = {
    Files.deleteIfExists(root.resolve(path))
    ()
  }

  override def describe(path: String): String = root.resolve(path).toString

  override def close(): Unit = ()
}

private final class LocalBlobReader(channel: FileChannel, path: String) extends BlobReader {
  override val length: Long = channel.size

  override def read(position: Long, count: Int): Array[Byte] = {
    val bytes = new Array[Byte](count)
    val buffer = ByteBuffer.wrap(bytes)
    while (buffer.hasRemaining) {
      if (channel.read(buffer, position + buffer.position()) < 0) throw new EOFException(path)
    }
    bytes
  }

  override def close(): Unit = channel.close()
}

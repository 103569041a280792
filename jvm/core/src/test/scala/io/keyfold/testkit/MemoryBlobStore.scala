package io.keyfold.testkit

import java.io.{ByteArrayOutputStream, EOFException, FileNotFoundException, OutputStream}
import java.util.concurrent.atomic.LongAdder

import scala.collection.concurrent.TrieMap

import io.keyfold.io.{BlobReader, BlobStore, ListedFile}

/** Files in a map, which a test may look at, alter and count. A reader keeps the bytes that were
  * there when it was opened. Threads: any number at once.
  */
final class MemoryBlobStore extends BlobStore {
  private val contents = TrieMap.empty[String, Array[Byte]]

  /** What has been asked of the store since it was made or last `counts.reset()`. */
  val counts = new MemoryBlobStore.Counts

  override def write(path: String)(body: OutputStream => Unit): Long = {
    counts.writesAdder.increment()
    val out = new ByteArrayOutputStream
    body(out)
    val bytes = out.toByteArray
    contents.put(path, bytes)
    bytes.length.toLong
  }

  override def open(path: String): BlobReader = {
    counts.opensAdder.increment()
    val found = contents.getOrElse(path, throw new FileNotFoundException(path))
    new MemoryBlobStore.Reader(path, found, counts)
  }

  override def exists(path: String): Boolean = {
    counts.existsAdder.increment()
    contents.contains(path)
  }

  override def files(folder: String): Map[String, ListedFile] = {
    counts.listsAdder.increment()
    val prefix = if (folder.isEmpty) "" else s"$folder/"
    contents.iterator.collect {
      case (path, bytes) if path.startsWith(prefix) && path.indexOf('/', prefix.length) < 0 =>
        path.drop(prefix.length) -> new ListedFile(bytes.length.toLong)
    }.toMap
  }

  override def delete(path: String): Unit = {
    counts.deletesAdder.increment()
    remove(path)
  }

  override def describe(path: String): String = s"memory:$path"

  override def close(): Unit = ()

  // What follows is for tests, and not counted.

  /** Paths of all files, sorted. */
  def paths: Seq[String] = contents.keys.toSeq.sorted

  /** A copy of a file's bytes. */
  def bytes(path: String): Array[Byte] =
    contents.getOrElse(path, throw new NoSuchElementException(s"No file $path")).clone()

  /** Makes or replaces a file. */
  def put(path: String, content: Array[Byte]): Unit = {
    contents.put(path, content.clone())
    ()
  }

  /** Replaces the bytes of a file that is there. */
  def update(path: String)(change: Array[Byte] => Array[Byte]): Unit =
    put(path, change(bytes(path)))

  /** Takes a file away; no error if it is not there. */
  def remove(path: String): Unit = {
    contents.remove(path)
    ()
  }
}

object MemoryBlobStore {

  /** Operations by kind; `reads` are those of all readers. */
  final class Counts private[MemoryBlobStore] {
    private[MemoryBlobStore] val writesAdder = new LongAdder
    private[MemoryBlobStore] val opensAdder = new LongAdder
    private[MemoryBlobStore] val readsAdder = new LongAdder
    private[MemoryBlobStore] val readBytesAdder = new LongAdder
    private[MemoryBlobStore] val existsAdder = new LongAdder
    private[MemoryBlobStore] val listsAdder = new LongAdder
    private[MemoryBlobStore] val deletesAdder = new LongAdder

    def writes: Long = writesAdder.sum

    def opens: Long = opensAdder.sum

    def reads: Long = readsAdder.sum

    def readBytes: Long = readBytesAdder.sum

    def exists: Long = existsAdder.sum

    def lists: Long = listsAdder.sum

    def deletes: Long = deletesAdder.sum

    def reset(): Unit = Seq(
      writesAdder,
      opensAdder,
      readsAdder,
      readBytesAdder,
      existsAdder,
      listsAdder,
      deletesAdder
    ).foreach(_.reset())
  }

  private final class Reader(path: String, bytes: Array[Byte], counts: Counts) extends BlobReader {
    override def length: Long = bytes.length.toLong

    override def read(position: Long, count: Int): Array[Byte] = {
      if (position + count > length) throw new EOFException(path)
      counts.readsAdder.increment()
      counts.readBytesAdder.add(count.toLong)
      java.util.Arrays.copyOfRange(bytes, position.toInt, position.toInt + count)
    }

    override def close(): Unit = ()
  }
}

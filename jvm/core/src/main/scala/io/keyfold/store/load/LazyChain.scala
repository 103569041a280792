package io.keyfold.store.load

import scala.collection.mutable

import io.keyfold.errors.{CorruptFile, LocalFileFailed, UnreadableVersion}
import io.keyfold.format.FileReader
import io.keyfold.map.{LazyRows, LocalBytes, RowSink}
import io.keyfold.mem.Slice
import io.keyfold.store.file.RowChecksum

/** The rows of a version as the files of its chain have them: blocks are copied to a local file
  * when it is loaded, and decompressed when somebody asks for a row of their key group. So what the
  * checkpoint's files lack or have wrong is known at the load, and they may be deleted after it.
  *
  * @param version
  *   store and version, for messages
  * @param partition
  *   the partition being loaded
  * @param onFailure
  *   called if rows cannot be put: other files may give them, to a load that puts them at once
  */
private[load] final class LazyChain(
    local: LocalBytes,
    version: String,
    partition: Int,
    rowChecksum: RowChecksum,
    onFailure: () => Unit
) extends LazyRows {
  private val files = mutable.ArrayBuffer.empty[LazyFile]

  /** Adds the next file of the chain.
    *
    * @param families
    *   for each of the file's families its index in the transaction
    */
  def add(file: FileReader, families: Array[Int]): Unit = {
    files += new LazyFile(file, families, local, partition, rowChecksum, room)
    ()
  }

  /** Of look-ups: an array for each would be most of what they cost. */
  private var buffer = Array.emptyByteArray
  private def room(bytes: Int): Array[Byte] = {
    if (buffer.length < bytes) buffer = new Array[Byte](bytes)
    buffer
  }

  /** The next file drops a family of the transaction. */
  def dropFamily(family: Int): Unit = files.foreach(_.dropFamily(family))

  override def groups(family: Int): Seq[Array[Int]] = {
    val seen = mutable.BitSet.empty
    files
      .sortBy(-_.bytesOf(family))
      .toSeq
      .flatMap(_.groups(family).map(_.filter(seen.add)))
      .filter(_.nonEmpty)
  }

  override def size(family: Int, group: Int): (Long, Long) = {
    var (rows, bytes) = (0L, 0L)
    for (file <- files; run <- file.run(family, group)) {
      rows += run.entries
      bytes += run.bytes
    }
    (rows, bytes)
  }

  override def put(family: Int, group: Int, into: RowSink): Unit =
    reading(files.foreach(_.put(family, group, into)))

  override def find(family: Int, group: Int, hash: Int, key: Slice, value: Slice): Boolean =
    reading {
      val newestFirst = files.reverseIterator
      var found = false
      while (!found && newestFirst.hasNext) {
        found = newestFirst.next().find(family, group, hash, key, value)
      }
      found && value.base != null && {
        val stored = rowChecksum.append(key, value)
        value.set(stored.base, stored.offset, stored.length)
        true
      }
    }

  override def isBroken: Boolean = broken
  @volatile private var broken = false

  private def reading[T](read: => T): T =
    try read
    catch {
      case e: CorruptFile =>
        failed()
        throw new UnreadableVersion(
          s"Cannot load $version: ${e.getMessage} A retry looks for other files that give its rows.",
          e
        )
      case e: LocalFileFailed =>
        failed()
        throw e
    }

  private def failed(): Unit = {
    broken = true
    onFailure()
  }

  override def close(): Unit = {
    local.close()
    files.clear()
  }
}

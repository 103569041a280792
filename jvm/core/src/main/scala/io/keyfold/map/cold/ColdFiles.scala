package io.keyfold.map.cold

import java.io.IOException
import java.nio.ByteBuffer
import java.nio.channels.ClosedChannelException

import io.keyfold.errors.{LocalFileFailed, OutOfMemory}
import io.keyfold.mem.page.{OpenFile, SpillFiles}

import scala.collection.mutable

/** The runs of one map in files on a local disk. A file is unlinked as soon as it is open, so a
  * crash leaves nothing behind.
  *
  * A run is written once, at the end of the newest file. When most of a file belongs to runs that
  * are gone, the others are copied to the end.
  *
  * Threads: one at a time adds and frees runs; any reads.
  */
private[map] final class ColdFiles(spill: SpillFiles) extends AutoCloseable {
  import ColdFiles._

  private val files = mutable.ArrayBuffer.empty[LocalFile]

  /** By the number of the run; null if it is free. Replaced when it grows, so readers need no lock.
    */
  @volatile private var extents = new Array[Extent](16)
  private val free = mutable.ArrayDeque.empty[Int]
  private var next = 0
  @volatile private var closed = false
  @volatile private var broken = false

  /** Whether a read has failed: versions must be loaded again. */
  def isBroken: Boolean = broken

  /** Bytes of all files. Any thread may call it. */
  @volatile var bytes = 0L

  /** Adds a run.
    *
    * @return
    *   its number
    */
  def add(content: Array[Byte], length: Int): Int = {
    val run = free.removeHeadOption().getOrElse {
      next += 1
      next - 1
    }
    if (run >= extents.length) extents = java.util.Arrays.copyOf(extents, extents.length * 2)
    extents(run) = write(content, length)
    // Publishes the entry.
    extents = extents
    run
  }

  private def write(content: Array[Byte], length: Int): Extent = {
    if (files.isEmpty || files.last.length >= FileBytes) files += open()
    val file = files.last
    val at = file.length
    try file.write(content, length)
    catch {
      case e: IOException =>
        throw new OutOfMemory(
          s"Cannot write $length bytes of state to a file in ${spill.folder}: $e. Free space there, " +
            "or raise spark.sql.streaming.stateStore.keyfold.memory.maxBytes (and the executor's " +
            "memory overhead with it).",
          e
        )
    }
    bytes += length
    file.live += length
    new Extent(file, at, length)
  }

  private def open(): LocalFile =
    try new LocalFile(spill.openFile())
    catch {
      case e: IOException =>
        throw new OutOfMemory(s"Cannot create a file for state in ${spill.folder}: $e", e)
    }

  /** Reads a part of a run. */
  def read(run: Int, from: Int, into: Array[Byte], length: Int): Unit = {
    var extent = extents(run)
    // A run that is moved meanwhile is read where it is now.
    while (!tryRead(extent, from, into, length)) extent = extents(run)
  }

  private def tryRead(extent: Extent, from: Int, into: Array[Byte], length: Int): Boolean =
    try {
      extent.file.read(extent.at + from, into, length)
      true
    } catch {
      case _: IOException if extent.file.isClosed && !closed => false
      case e: IOException                                    => throw failed(e.toString, e)
    }

  /** What a read that failed throws. */
  def failed(detail: String, cause: Throwable = null): LocalFileFailed = {
    broken = true
    new LocalFileFailed(
      s"Cannot read state from a file in ${spill.folder}: $detail. The checkpoint is not affected: " +
        "the task's retry loads the state again. If this happens repeatedly on one machine, test its disk.",
      cause
    )
  }

  def lengthOf(run: Int): Int = extents(run).length

  /** The run is not read any more. */
  def remove(run: Int): Unit = {
    val extent = extents(run)
    extents(run) = null
    free += run
    extent.file.live -= extent.length
    drop(extent.file)
    compact()
  }

  private def drop(file: LocalFile): Unit = if (file.live == 0 && (file ne files.last)) {
    bytes -= file.length
    files -= file
    file.close()
  }

  /** Copies what is left in the file with the least of it, once half of all bytes are of no use. */
  private def compact(): Unit = {
    val live = files.iterator.map(_.live).sum
    if (files.size > 1 && bytes - live > math.max(live, FileBytes)) {
      val worst = files.init.minBy(_.live)
      val left = (0 until next).filter(run => extents(run) != null && (extents(run).file eq worst))
      try left.foreach(move)
      catch {
        // All runs are where they were or moved: this costs space only.
        case _: OutOfMemory | _: LocalFileFailed => ()
      }
      drop(worst)
    }
  }

  private def move(run: Int): Unit = {
    val from = extents(run)
    val content = new Array[Byte](from.length)
    read(run, 0, content, from.length)
    extents(run) = write(content, from.length)
    extents = extents
    from.file.live -= from.length
  }

  /** Ends all reads, with an error. */
  override def close(): Unit = {
    closed = true
    files.foreach(_.close())
    files.clear()
    bytes = 0
  }
}

private[map] object ColdFiles {

  /** A file that is at least this long is not added to. */
  private val FileBytes = 64L << 20

  final class Extent(val file: LocalFile, val at: Long, val length: Int)

  /** Reads by a channel, in one call of the system. An interrupt of any reader, as of a task that
    * is killed, closes that for all; the other way to the file, which needs two calls and a lock,
    * cannot be interrupted.
    */
  final class LocalFile(file: OpenFile) {
    var length = 0L

    /** Bytes of runs that are not gone. */
    var live = 0L
    @volatile var isClosed = false

    def write(content: Array[Byte], count: Int): Unit = synchronized {
      file.access.seek(length)
      file.access.write(content, 0, count)
      length += count
    }

    def read(at: Long, into: Array[Byte], count: Int): Unit =
      if (!readByChannel(at, ByteBuffer.wrap(into, 0, count))) synchronized {
        file.access.seek(at)
        file.access.readFully(into, 0, count)
      }

    private def readByChannel(at: Long, into: ByteBuffer): Boolean =
      file.channel.isOpen && {
        try {
          while (into.hasRemaining && file.channel.read(into, at + into.position()) >= 0) {}
          !into.hasRemaining
        } catch { case _: ClosedChannelException => false }
      }

    def close(): Unit = synchronized {
      isClosed = true
      file.channel.close()
      file.access.close()
    }
  }
}

package io.keyfold.map.cold

import java.io.IOException
import java.nio.ByteBuffer
import java.nio.channels.ClosedChannelException

import io.keyfold.errors.{LocalFileFailed, OutOfMemory}
import io.keyfold.map.LocalBytes
import io.keyfold.map.value.IntList
import io.keyfold.mem.page.{OpenFile, SpillFiles}

import scala.collection.mutable
import scala.util.Try
import scala.util.control.NonFatal

/** The runs and cold leaves of one map in files on a local disk; both are called runs here. A file
  * is unlinked as soon as it is open, so a crash leaves nothing behind.
  *
  * A run is written once, at the end of the newest file. When most of a file belongs to runs that
  * are gone, the others are copied to the end.
  *
  * Threads: one at a time adds and frees runs; any reads.
  *
  * @param leastFileBytes
  *   a file that is at least as long is not added to
  */
private[map] final class ColdFiles(
    spill: SpillFiles,
    leastFileBytes: Long = ColdFiles.LeastFileBytes
) extends LocalBytes {
  import ColdFiles._

  private val files = mutable.ArrayBuffer.empty[LocalFile]

  /** By the number of the run; null if it is free. Replaced when it grows, so readers need no lock.
    */
  @volatile private var extents = new Array[Extent](16)
  private val free = new IntList
  private var next = 0
  @volatile private var closed = false
  @volatile private var broken = false

  /** Whether a read has failed: versions must be loaded again. */
  def isBroken: Boolean = broken || {
    val others = lazyRuns
    others != null && others.isBroken
  }

  /** Runs of the map whose rows are not in these files; null: there are none. */
  @volatile var lazyRuns: LazyRuns = _

  /** Bytes of all files. Any thread may call it. */
  @volatile var bytes = 0L

  /** The same, with those of lazy runs. */
  def allBytes: Long = {
    val others = lazyRuns
    if (others == null) bytes else bytes + others.bytes
  }

  /** Number of runs, for tests: 0 when nothing is left in the files. */
  private[map] def runs: Int = next - free.size

  /** Begins to write a run. Only one is written at a time, and none removed meanwhile.
    *
    * @param atPage
    *   whether at the start of a page of the page cache
    */
  def begin(atPage: Boolean = false): Writing = {
    if (files.isEmpty || files.last.length >= fileBytes) files += open()
    val file = files.last
    if (atPage) {
      val left = toPage(file.length)
      file.length += left
      file.padding += left
      bytes += left
    }
    new Writing(file, this)
  }

  /** Adds a run that has been written.
    *
    * @return
    *   its number
    */
  def add(written: Writing): Int = add(written, written.length)

  /** Adds the next bytes of what has been written, as a run of its own. */
  def add(written: Writing, length: Int): Int = {
    val run = if (free.size > 0) free.removeLast() else next
    if (run == next) next += 1
    if (run >= extents.length) extents = java.util.Arrays.copyOf(extents, extents.length * 2)
    extents(run) = taken(written, length)
    // Publishes the entry.
    extents = extents
    run
  }

  override def add(bytes: Array[Byte]): Int = {
    val written = begin()
    written.write(bytes, bytes.length)
    add(written)
  }

  private def taken(written: Writing, length: Int): Extent = {
    val file = written.file
    val extent = new Extent(file, file.length, length)
    file.length += length
    file.live += length
    bytes += length
    extent
  }

  /** Files are few, so that their descriptors suffice. */
  private def fileBytes = math.max(leastFileBytes, bytes / MostFiles)

  private def failedToWrite(e: IOException) = new OutOfMemory(
    s"Cannot write state to a file in ${spill.folder}: $e. Free space there, or raise " +
      "spark.sql.streaming.stateStore.keyfold.memory.maxBytes (and the executor's memory overhead " +
      "with it).",
    e
  )

  private def open(): LocalFile =
    try new LocalFile(spill.openFile())
    catch { case e: IOException => throw failedToWrite(e) }

  override def read(number: Int, from: Int, length: Int): Array[Byte] = {
    val content = new Array[Byte](length)
    read(number, from, content, length)
    content
  }

  /** Reads a part of a run. */
  def read(run: Int, from: Int, into: Array[Byte], length: Int): Unit = {
    var extent = extents(run)
    // A run that is moved meanwhile is read where it is now.
    while (!tryRead(extent, from, into, length)) extent = extents(run)
  }

  /** Reads a block, which is a part of a run. */
  def readBlock(run: Int, from: Int, length: Int, into: ColdBlock): Unit = {
    read(run, from, into.room(length), length)
    if (!into.isWhole(length)) throw failed("a block of rows has not the checksum that it had")
  }

  private def tryRead(extent: Extent, from: Int, into: Array[Byte], length: Int): Boolean =
    try {
      extent.file.read(extent.at + from, into, length)
      true
    } catch {
      case _: IOException if extent.file.isClosed && !closed => false
      case e: IOException                                    => throw failed(e.toString, e)
    }

  override def failed(detail: String, cause: Throwable = null): LocalFileFailed = {
    broken = true
    new LocalFileFailed(
      s"Cannot read state from a file in ${spill.folder}: $detail. The checkpoint is not affected: " +
        "the task's retry loads the state again. If this happens repeatedly on one machine, test its disk.",
      cause
    )
  }

  /** Where a run is: the same object as before only if it is the same run, in the same place. */
  private[map] def placeOf(run: Int): AnyRef = extents(run)

  private[map] def lengthOf(run: Int): Int = extents(run).length

  /** The run is not read any more. */
  def remove(run: Int): Unit = {
    val extent = extents(run)
    extents(run) = null
    free.add(run)
    extent.file.live -= extent.length
    drop(extent.file)
    compact()
  }

  private def drop(file: LocalFile): Unit = if (file.live == 0 && (file ne files.last)) {
    bytes -= file.length
    files -= file
    file.close()
    quietUntil = math.min(quietUntil, useless + LeastFileBytes)
  }

  /** Bytes of no use that there must be before the next try: the last one failed. */
  private var quietUntil = 0L

  private def useless = bytes - files.iterator.map(it => it.live + it.padding).sum

  /** Copies what is left in the file with the least of it, once half of all bytes are of no use. */
  private def compact(): Unit = {
    val useless = this.useless
    if (
      files.size > 1 && useless > math.max(math.max(bytes - useless, LeastFileBytes), quietUntil)
    ) {
      val worst = files.init.minBy(_.live)
      quietUntil = 0
      var moved = 0L
      try {
        var run = 0
        while (run < next && moved < MovedAtOnce) {
          if (extents(run) != null && (extents(run).file eq worst)) {
            moved += extents(run).length
            move(run)
          }
          run += 1
        }
      } catch {
        // Each run is where it was, or moved: this costs space only. Whoever frees a run must not
        // be stopped half way.
        case NonFatal(_) | _: OutOfMemoryError => quietUntil = useless + LeastFileBytes
      }
      drop(worst)
    }
  }

  private def move(run: Int): Unit = {
    val from = extents(run)
    val to = begin(atPage = from.length > PageBytes)
    val content = new Array[Byte](math.min(from.length, MoveBytes))
    while (to.length < from.length) {
      val count = math.min(content.length, from.length - to.length)
      read(run, to.length, content, count)
      to.write(content, count)
    }
    extents(run) = taken(to, to.length)
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
  private val LeastFileBytes = 16L << 20
  private val MostFiles = 16
  private val MoveBytes = 1 << 20

  /** Of a page of the page cache. */
  val PageBytes = 4096

  /** Bytes from here to the start of a page. */
  def toPage(at: Long): Int = (-at & (PageBytes - 1)).toInt

  /** Moved at most for each run that is removed, and a run. */
  private val MovedAtOnce = 16L << 20

  /** A run while it is written, at the end of a file. */
  final class Writing(val file: LocalFile, files: ColdFiles) {
    var length = 0

    def write(content: Array[Byte], count: Int): Unit = {
      try file.write(file.length + length, content, count)
      catch { case e: IOException => throw files.failedToWrite(e) }
      length += count
    }
  }

  final class Extent(val file: LocalFile, val at: Long, val length: Int)

  /** Reads by a channel, in one call of the system. An interrupt of any reader, as of a task that
    * is killed, closes that for all; the other way to the file, which needs two calls and a lock,
    * cannot be interrupted.
    */
  final class LocalFile(file: OpenFile) {
    var length = 0L

    /** Bytes of runs that are not gone. */
    var live = 0L

    /** Bytes before runs that begin at a page: a copy would have them too. */
    var padding = 0L
    @volatile var isClosed = false

    def write(at: Long, content: Array[Byte], count: Int): Unit = synchronized {
      file.access.seek(at)
      file.access.write(content, 0, count)
    }

    def read(at: Long, into: Array[Byte], count: Int): Unit =
      if (!readByChannel(at, ByteBuffer.wrap(into, 0, count))) synchronized {
        file.access.seek(at)
        file.access.readFully(into, 0, count)
      }

    private def readByChannel(at: Long, into: ByteBuffer): Boolean =
      file.channel.isOpen && {
        try {
          val end = into.limit()
          var read = 0
          while (into.position() < end && read >= 0) {
            // The channel takes memory of the system for as much as it is asked for.
            into.limit(math.min(end, into.position() + MoveBytes))
            read = file.channel.read(into, at + into.position())
          }
          into.position() == end
        } catch { case _: ClosedChannelException => false }
      }

    def close(): Unit = synchronized {
      isClosed = true
      // Nothing is lost if it fails: the file has no name, and is read no more.
      Seq(file.channel, file.access).foreach(it => Try(it.close()))
    }
  }
}

package io.keyfold.store.load

import java.io.InterruptedIOException
import java.lang.ref.SoftReference
import java.util.concurrent.Future

import scala.collection.mutable

import io.keyfold.format.{BlockEntries, FileReader}
import io.keyfold.map.{LocalBytes, RowSink}
import io.keyfold.store.file.RowChecksum

/** A file whose blocks are copied to the local disk, from which the entries of a key group are
  * applied later.
  *
  * @param families
  *   for each of the file's families its index in the map
  * @param partition
  *   the partition being loaded
  */
private[load] final class LazyFile(
    file: FileReader,
    families: Array[Int],
    local: LocalBytes,
    partition: Int,
    rowChecksum: RowChecksum
) {
  import LazyFile._

  private val applier =
    new EntryApplier(families, file, EntryFilter.All, 0, partition, rowChecksum)

  /** By the file's family and the group. */
  private val runs = mutable.LongMap.from(
    file.footer.groups.iterator.map(run => keyOf(run.family, run.group) -> run)
  )
  if (runs.size != file.footer.groups.size) file.fail("a key group is listed twice")

  private val isSmall = file.footer.blocks.iterator.map(_.rawLength.toLong).sum <= MostDecoded

  /** Blocks that were decompressed: of a small file all, of another the last. */
  private var decoded = new SoftReference[Array[BlockEntries]](null)

  /** For each block the number of the local bytes that have it, and where it begins there. */
  private val numbers = new Array[Int](file.footer.blocks.size)
  private val starts = new Array[Int](numbers.length)
  copyBlocks()

  private def copyBlocks(): Unit = {
    var from = 0
    while (from < numbers.length) {
      var until = from
      var length = 0L
      while (until < numbers.length && (until == from || length < CopiedAtOnce)) {
        starts(until) = length.toInt
        length += file.footer.blocks(until).storedLength
        until += 1
      }
      if (Thread.currentThread.isInterrupted) {
        throw new InterruptedIOException(s"The thread was interrupted while it copied ${file.path}")
      }
      val number = local.add(file.stored(from, until))
      java.util.Arrays.fill(numbers, from, until, number)
      from = until
    }
  }

  /** The key groups with entries of a family of the map, those together that begin in one block. */
  def groups(family: Int): Seq[Array[Int]] = {
    val found = mutable.ArrayBuffer.empty[mutable.ArrayBuilder[Int]]
    var block = -1
    for (run <- file.footer.groups if families(run.family) == family) {
      if (run.block != block) found += mutable.ArrayBuilder.make[Int]
      block = run.block
      found.last += run.group
    }
    found.toSeq.map(_.result())
  }

  /** Bytes of keys and values of a family of the map. */
  def bytesOf(family: Int): Long =
    file.footer.groups.iterator.filter(run => families(run.family) == family).map(_.bytes).sum

  /** A family of the map was dropped after this file. */
  def dropFamily(family: Int): Unit = for (i <- families.indices) {
    if (families(i) == family) families(i) = Dropped
    else if (families(i) > family) families(i) -= 1
  }

  def put(family: Int, group: Int, into: RowSink): Unit = {
    val ofFile = families.indexOf(family)
    if (ofFile >= 0) for (run <- runs.get(keyOf(ofFile, group))) {
      try applier.applyGroup(run, into)(decodedBlock)
      finally {
        applier.forget()
        file.forget()
      }
    }
  }

  private def keyOf(family: Int, group: Int) = family.toLong << 32 | group

  private def decodedBlock(index: Int): BlockEntries = {
    var blocks = decoded.get
    if (blocks == null) {
      blocks = new Array[BlockEntries](numbers.length)
      decoded = new SoftReference(blocks)
    }
    if (blocks(index) == null) {
      val entries = if (isSmall) block(index) else inOrder(index)
      if (!isSmall) java.util.Arrays.fill(blocks.asInstanceOf[Array[AnyRef]], null)
      blocks(index) = entries
    }
    blocks(index)
  }

  /** The block that was read last; one that another thread reads meanwhile, if any. */
  private var lastBlock = -1
  private var ahead: Future[SoftReference[BlockEntries]] = _

  /** While blocks are asked for in their order, another thread reads the next. */
  private def inOrder(index: Int): BlockEntries = {
    val isNext = index == lastBlock + 1
    val read = if (isNext) ahead else null
    // Before anything can fail: what is left of another block must not be taken for the next one.
    ahead = null
    lastBlock = index
    val found = if (read != null) resultOf(read) else null
    val entries = if (found != null) found else block(index)
    // Nobody may ask for it, and its heap is not to be held for that.
    if (isNext && index + 1 < numbers.length)
      ahead = BlocksAhead.submit(() => new SoftReference(block(index + 1)))
    entries
  }

  /** A thread that is interrupted reads by itself: a group must not be put by half.
    *
    * @return
    *   null if it is not there
    */
  private def resultOf(ahead: Future[SoftReference[BlockEntries]]): BlockEntries =
    try BlocksAhead.resultOf(ahead).get
    catch {
      case _: InterruptedException =>
        Thread.currentThread.interrupt()
        null
    }

  private def block(index: Int): BlockEntries = {
    val stored = local.read(numbers(index), starts(index), file.footer.blocks(index).storedLength)
    if (!file.isBlock(index, stored)) {
      throw local.failed(s"the copy of block $index of ${file.path} has another checksum")
    }
    file.entriesOf(index, stored)
  }
}

private[load] object LazyFile {
  private val Dropped = -1

  /** Raw bytes of a file whose blocks are kept when they are decompressed. */
  private val MostDecoded = 1 << 20

  /** Bytes of a request. */
  private val CopiedAtOnce = 4 << 20
}

package io.keyfold.store.load

import java.io.InterruptedIOException
import java.lang.ref.SoftReference
import java.util.concurrent.Future

import scala.collection.mutable

import io.keyfold.format.{BlockEntries, BlockLookup, FileReader, GroupRun}
import io.keyfold.io.IdleThreads
import io.keyfold.map.{LocalBytes, RowSink}
import io.keyfold.mem.{HashFilter, Slice}
import io.keyfold.store.file.RowChecksum

/** A file whose blocks are copied to the local disk, from which the entries of a key group are
  * applied later.
  *
  * @param families
  *   for each of the file's families its index in the map
  * @param partition
  *   the partition being loaded
  * @param room
  *   gives an array for the block of a look-up, until the next call
  */
private[load] final class LazyFile(
    file: FileReader,
    families: Array[Int],
    local: LocalBytes,
    partition: Int,
    rowChecksum: RowChecksum,
    room: Int => Array[Byte]
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

  /** Where the entries of a group are, if there are some. */
  def run(family: Int, group: Int): Option[GroupRun] = {
    val ofFile = families.indexOf(family)
    if (ofFile < 0) None else runs.get(keyOf(ofFile, group))
  }

  def put(family: Int, group: Int, into: RowSink): Unit = for (run <- run(family, group)) {
    try applier.applyGroup(run, into)(decodedBlock)
    finally {
      applier.forget()
      file.forget()
    }
  }

  /** Looks for the entry of a key.
    *
    * @param value
    *   is set to its value; its base to null if the entry says that the row was removed
    * @return
    *   whether there is one
    */
  def find(family: Int, group: Int, hash: Int, key: Slice, value: Slice): Boolean = {
    val run = this.run(family, group)
    run.nonEmpty && find(run.get, hash, key, value)
  }

  private def find(run: GroupRun, hash: Int, key: Slice, value: Slice): Boolean = {
    var (block, from, left) = (run.block, run.entry, run.entries)
    var found = false
    while (!found && left > 0) {
      val until = math.min(file.footer.blocks(block).entries, from + left)
      if (mayHave(block, hash)) {
        val lookup = lookupOf(block)
        val entry = lookup.find(hash, key, from, until)
        found = entry >= 0
        if (found && !lookup.value(entry, value)) value.set(null, 0, 0)
      }
      left -= until - from
      block += 1
      from = 0
    }
    found
  }

  /** For each block the filter of its hashes, once it was looked into. */
  private lazy val filters = new Array[SoftReference[Array[Byte]]](numbers.length)

  private def mayHave(block: Int, hash: Int): Boolean = {
    val held = filters(block)
    val filter = if (held == null) null else held.get
    filter == null || HashFilter.mayHave(filter, hash)
  }

  private def lookupOf(index: Int): BlockLookup = {
    val lookup = file.lookupOf(index, stored(index), room)
    if (filters(index) == null || filters(index).get == null) {
      filters(index) = new SoftReference(HashFilter.of(lookup.hashes))
    }
    lookup
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
    try IdleThreads.resultOf(ahead).get
    catch {
      case _: InterruptedException =>
        Thread.currentThread.interrupt()
        null
    }

  private def block(index: Int): BlockEntries = file.entriesOf(index, stored(index))

  private def stored(index: Int): Array[Byte] = {
    val stored = local.read(numbers(index), starts(index), file.footer.blocks(index).storedLength)
    if (!file.isBlock(index, stored)) {
      throw local.failed(s"the copy of block $index of ${file.path} has another checksum")
    }
    stored
  }
}

private[load] object LazyFile {
  private val Dropped = -1

  /** Raw bytes of a file whose blocks are kept when they are decompressed. */
  private val MostDecoded = 1 << 20

  /** Bytes of a request. */
  private val CopiedAtOnce = 4 << 20
}

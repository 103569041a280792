package io.keyfold.store.load

import io.keyfold.format.{BlockEntries, FileReader, GroupRun, Layout}
import io.keyfold.map.RowSink
import io.keyfold.mem.Slice
import io.keyfold.store.file.{Placement, RowChecksum}

/** Applies a file's entries to a map, block by block; reads only blocks with wanted key groups.
  *
  * @param families
  *   for each of the file's families its index in the transaction; -1 if no entry of it may be
  *   taken
  * @param wanted
  *   the entries to take
  * @param partitions
  *   N of the version being loaded; the file's own unless a rescale lies between
  * @param partition
  *   the partition being loaded
  */
private[store] final class EntryApplier(
    families: Array[Int],
    file: FileReader,
    wanted: EntryFilter,
    partitions: Int,
    partition: Int,
    rowChecksum: RowChecksum
) {
  private val key = new Slice
  private val value = new Slice
  private val identity = file.footer.identity
  private val before = placements(identity.partitions, identity.partition)
  private val after = placements(partitions, partition)

  /** Whether a key group's rows are all in one partition. */
  private val takesWholeGroups = partitions == 0 || identity.keyGroups % partitions == 0
  private var blockAt: Int => BlockEntries = _
  private var block: BlockEntries = _
  private var blockIndex = -1

  /** Stored size of the blocks that were read. */
  var blockBytes = 0L

  def applyAll(into: RowSink): Unit = {
    val runs = file.footer.groups.filter(run => wanted.hasGroup(run.group))
    val ahead = new BlocksAhead(file, blocksOf(runs))
    try runs.foreach(applyGroup(_, into)(_ => ahead.next()))
    finally ahead.close()
  }

  private def blocksOf(runs: IndexedSeq[GroupRun]): Array[Int] = {
    val found = Array.newBuilder[Int]
    var next = 0
    for (run <- runs) {
      var block = run.block
      var end = run.entry + run.entries
      while (end > 0) {
        if (block >= next) {
          found += block
          next = block + 1
        }
        end -= file.footer.blocks(block).entries
        block += 1
      }
    }
    found.result()
  }

  private def placements(partitions: Int, partition: Int) =
    file.footer.families.map(f => new Placement(f.spec, partitions, partition)).toArray

  /** Applies the entries of one key group.
    *
    * @param blocks
    *   gives the blocks that have them, ascending
    */
  def applyGroup(run: GroupRun, into: RowSink)(blocks: Int => BlockEntries): Unit = {
    blockAt = blocks
    enter(run.block)
    val family = families(run.family)
    if (family >= 0 && takesWholeGroups) into.expect(family, run.entries)
    val (old, now) = (before(run.family), after(run.family))
    var entry = run.entry
    var left = run.entries
    var bytes = 0L
    while (left > 0) {
      if (entry >= block.size) {
        enter(blockIndex + 1)
        entry = 0
      }
      val end = math.min(block.size, entry + left)
      bytes += block.bytes(entry, end)
      left -= end - entry
      while (entry < end) {
        val hash = block.hash(entry)
        if (!old.fits(hash)) misplaced(entry, identity.partition)
        if (wanted.hasRow(run.family, hash)) {
          if (!now.fits(hash)) misplaced(entry, partition)
          if (family < 0) unknownFamily(run.family, entry)
          applyEntry(family, entry, into)
        }
        entry += 1
      }
    }
    if (bytes != run.bytes) {
      file.fail(
        s"key group ${run.group} has $bytes bytes of keys and values, its footer says ${run.bytes}"
      )
    }
  }

  /** Keeps no block. */
  def forget(): Unit = {
    key.set(Array.emptyByteArray)
    value.set(Array.emptyByteArray)
    block = null
    blockIndex = -1
    blockAt = null
  }

  private def misplaced(entry: Int, partition: Int) = file.fail(
    s"block $blockIndex entry $entry has hash ${block.hash(entry)}, which does not belong to " +
      s"partition $partition"
  )

  private def unknownFamily(family: Int, entry: Int) = file.fail(
    s"block $blockIndex entry $entry is of column family " +
      s"${file.footer.families(family).spec.name}, which the version does not have, or has with " +
      "other encodings"
  )

  private def enter(index: Int): Unit = if (index != blockIndex) {
    block = blockAt(index)
    blockBytes += file.footer.blocks(index).storedLength
    blockIndex = index
  }

  private def applyEntry(family: Int, i: Int, into: RowSink): Unit = {
    block.key(i, key)
    block.entryType(i) match {
      case Layout.EntryType.Put =>
        into.put(family, block.hash(i), key, rowChecksum.append(key, block.value(i, 0, value)))
        appendValues(family, i, from = 1, into)
      case Layout.EntryType.Append => appendValues(family, i, from = 0, into)
      case _                       =>
        into.remove(family, block.hash(i), key)
        ()
    }
  }

  private def appendValues(family: Int, i: Int, from: Int, into: RowSink): Unit = {
    var v = from
    while (v < block.values(i)) {
      into.append(family, block.hash(i), key, rowChecksum.append(key, block.value(i, v, value)))
      v += 1
    }
  }
}

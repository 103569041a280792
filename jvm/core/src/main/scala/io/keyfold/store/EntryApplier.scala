package io.keyfold.store

import io.keyfold.errors.CorruptFile
import io.keyfold.format.{BlockEntries, FileReader, GroupRun, Layout}
import io.keyfold.map.MapTxn
import io.keyfold.mem.Slice

/** Puts a file's entries into a transaction, block by block. */
private[store] final class EntryApplier(
    txn: MapTxn,
    families: Array[Int],
    file: FileReader,
    partition: Int,
    seal: RowSeal
) {
  private val key = new Slice
  private val value = new Slice
  private val placements =
    file.footer.families
      .map(f => new Placement(f.spec, file.footer.identity.partitions, partition))
      .toArray
  private var block: BlockEntries = _
  private var blockIndex = -1

  def applyAll(): Unit = file.footer.groups.foreach(applyGroup)

  private def applyGroup(run: GroupRun): Unit = {
    enter(run.block)
    val placement = placements(run.family)
    var entry = run.entry
    var left = run.entries
    while (left > 0) {
      if (entry >= block.size) {
        enter(blockIndex + 1)
        entry = 0
      }
      if (!placement.fits(block.hash(entry))) {
        throw new CorruptFile(
          file.path,
          s"block $blockIndex entry $entry has hash ${block.hash(entry)}, which does not belong to " +
            s"partition $partition"
        )
      }
      applyEntry(families(run.family), entry)
      entry += 1
      left -= 1
    }
  }

  private def enter(index: Int): Unit = if (index != blockIndex) {
    block = file.block(index)
    blockIndex = index
  }

  private def applyEntry(family: Int, i: Int): Unit = {
    block.key(i, key)
    block.entryType(i) match {
      case Layout.EntryType.Put =>
        txn.put(family, block.hash(i), key, seal.close(key, block.value(i, 0, value)))
        appendValues(family, i, from = 1)
      case Layout.EntryType.Append => appendValues(family, i, from = 0)
      case _                       =>
        txn.remove(family, block.hash(i), key)
        ()
    }
  }

  private def appendValues(family: Int, i: Int, from: Int): Unit = {
    var v = from
    while (v < block.values(i)) {
      txn.append(family, block.hash(i), key, seal.close(key, block.value(i, v, value)))
      v += 1
    }
  }
}

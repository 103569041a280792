package io.keyfold.map.ordered

import io.keyfold.format.wire.ByteSink
import io.keyfold.map.cold.{ColdBlock, ColdFiles, ColdRow}
import io.keyfold.map.value.{IntList, Records, ValueHead, ValueSteps}
import io.keyfold.mem.Slice
import io.keyfold.mem.arena.Addresses

/** Writes the rows of leaves to a file, and then turns the leaves into cold ones, where they are:
  * all versions that share a leaf see it so. While nobody reads the leaves.
  *
  * @param list
  *   whether the family has several values per key
  * @param baseEpoch
  *   rows that the base of this last epoch does not have are marked as changed
  * @param leave
  *   called with each record that leaves memory, once its row is in the file
  */
private[map] final class ColdLeafWriter(
    addresses: Addresses,
    files: ColdFiles,
    list: Boolean,
    baseEpoch: Int
)(leave: Int => Unit) {
  import ColdLeafWriter._

  private val records = new Records(addresses)
  private val steps = new ValueSteps(addresses)
  private val (key, value) = (new Slice, new Slice)
  private val block = new ColdBlock.Builder(isHashed = false)
  private val content = new ByteSink

  /** Null while nothing is written. */
  private var file: ColdFiles.Writing = _
  private val leaves = new IntList

  /** Ends of all blocks so far, and how many belong to the leaves before each. */
  private val ends = new IntList
  private val firstBlocks = new IntList

  def add(leaf: Int): Unit = {
    if (file == null) file = files.begin()
    val at = addresses.of(leaf)
    leaves.add(leaf)
    firstBlocks.add(ends.size)
    var i = 0
    while (i < TreePages.entries(at)) {
      if (block.isFull) finishBlock()
      addRow(TreePages.record(at, i))
      i += 1
    }
    finishBlock()
    if (file.length > MostBytes) finish()
  }

  private def addRow(record: Int): Unit = {
    val changed = !records.isOfBase(record, baseEpoch)
    block.begin()
    records.key(record, key)
    records.value(record, value)
    val values = if (list) ValueHead.values(value) else 1
    ColdRow.begin(block.entries, records.hash(record), key, changed, values)
    if (list) {
      steps.start(record, ValueSteps.AnyEpoch)
      while (steps.next(value)) ColdRow.addValue(block.entries, value)
    } else ColdRow.addValue(block.entries, value)
  }

  private def finishBlock(): Unit = {
    block.finish(content)
    ends.add(file.length + content.length)
    if (content.length > WriteBytes) flush()
  }

  private def flush(): Unit = {
    file.write(content.array, content.length)
    content.clear()
  }

  /** Turns the leaves that were added into cold ones. */
  def finish(): Unit = if (file != null) {
    flush()
    var start = 0
    var i = 0
    while (i < leaves.size) {
      val next = if (i + 1 < leaves.size) firstBlocks(i + 1) else ends.size
      turn(leaves(i), firstBlocks(i), next, start)
      start = ends(next - 1)
      i += 1
    }
    Seq(leaves, ends, firstBlocks).foreach(_.clear())
    file = null
  }

  /** @param start
    *   where the leaf's blocks begin
    */
  private def turn(leaf: Int, first: Int, next: Int, start: Int): Unit = {
    val at = addresses.of(leaf)
    val number = files.add(file, ends(next - 1) - start)
    var i = 0
    while (i < TreePages.entries(at)) {
      leave(TreePages.record(at, i))
      i += 1
    }
    TreePages.turnCold(at, list, number)
    for (b <- first until next) TreePages.setBlockEnd(at, b - first, ends(b) - start)
  }
}

private object ColdLeafWriter {
  private val WriteBytes = 1 << 18

  /** So that the length of what is written fits into an int. */
  private val MostBytes = 64 << 20
}

package io.keyfold.map.ordered

import scala.collection.mutable

import io.keyfold.format.wire.ByteSink
import io.keyfold.map.cold.{ColdBlock, ColdFiles, ColdRow, ColdSpace}
import io.keyfold.map.value.{IntList, Records, ValueHead, ValueSteps}
import io.keyfold.mem.Slice

/** Writes the rows of leaves to a file, and then puts cold leaves in their places, while nobody
  * reads the pages that lead there.
  *
  * @param list
  *   whether the family has several values per key
  * @param baseEpoch
  *   rows that the base of this last epoch does not have are marked as changed
  * @param leave
  *   called with each record that leaves memory, once its row is in the file
  */
private[map] final class ColdLeafWriter(
    cold: ColdSpace,
    list: Boolean,
    baseEpoch: Int
)(leave: Int => Unit) {
  import ColdLeafWriter._

  private val arena = cold.arena
  private val addresses = arena.addresses
  private val records = new Records(addresses)
  private val steps = new ValueSteps(addresses)
  private val (key, value) = (new Slice, new Slice)
  private val block = new ColdBlock.Builder(isHashed = false)
  private val content = new ByteSink

  /** Null while nothing is written. */
  private var file: ColdFiles.Writing = _
  private val leaves = new IntList
  private val places = mutable.ArrayBuffer.empty[Int => Unit]

  /** Ends of all blocks so far, and how many belong to the leaves before each. */
  private val ends = new IntList
  private val firstBlocks = new IntList

  /** @param place
    *   puts a page in the place of the leaf
    */
  def add(leaf: Int)(place: Int => Unit): Unit = {
    if (file == null) file = cold.files.begin()
    val at = addresses.of(leaf)
    leaves.add(leaf)
    places += place
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

  /** Replaces the leaves that were added. */
  def finish(): Unit = if (file != null) {
    flush()
    var start = 0
    var i = 0
    while (i < leaves.size) {
      val next = if (i + 1 < leaves.size) firstBlocks(i + 1) else ends.size
      replace(i, next, start)
      start = ends(next - 1)
      i += 1
    }
    Seq(leaves, ends, firstBlocks).foreach(_.clear())
    places.clear()
    file = null
  }

  /** @param end
    *   of the blocks of the leaf
    * @param start
    *   where they begin in the file
    */
  private def replace(i: Int, end: Int, start: Int): Unit = {
    val leaf = addresses.of(leaves(i))
    val blocks = end - firstBlocks(i)
    val count = TreePages.entries(leaf)
    // First, as memory may be at its end.
    val page = arena.allocate(TreePages.coldLength(blocks))
    val at = addresses.of(page)
    val number = cold.files.add(file, ends(end - 1) - start)
    TreePages.initializeCold(at, TreePages.epoch(leaf), list, count, number, blocks)
    for (b <- 0 until blocks) TreePages.setBlockEnd(at, b, ends(firstBlocks(i) + b) - start)
    var r = 0
    while (r < count) {
      leave(TreePages.record(leaf, r))
      r += 1
    }
    places(i)(page)
    arena.free(leaves(i))
  }
}

private object ColdLeafWriter {
  private val WriteBytes = 1 << 18

  /** So that the length of what is written fits into an int. */
  private val MostBytes = 64 << 20
}

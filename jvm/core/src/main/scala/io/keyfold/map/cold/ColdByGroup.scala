package io.keyfold.map.cold

import io.keyfold.format.wire.ByteSink
import io.keyfold.map.value.IntList

/** Rows of an ordered family that are in files, sorted by key group, as files of a checkpoint need
  * them. Those of a group lie in all leaves; so each leaf is read once, and its rows are written to
  * further files, in which the blocks of each group can be found.
  *
  * @param files
  *   for these rows only, closed by the caller
  */
private[map] final class ColdByGroup(val files: ColdFiles, keyGroups: Int) {
  import ColdByGroup._

  /** Of each group, null if it has no row: its blocks, and the rows that are not yet written. */
  private val blocks = new Array[IntList](keyGroups)
  private val open = new Array[ColdBlock.Builder](keyGroups)
  private var openBytes = 0L
  private val content = new ByteSink

  def add(group: Int, row: ColdRow): Unit = {
    if (blocks(group) == null) blocks(group) = new IntList
    if (open(group) == null) open(group) = new ColdBlock.Builder(isHashed = false)
    val builder = open(group)
    val before = builder.entries.length
    builder.begin()
    row.copyTo(builder.entries, row.isChanged)
    openBytes += builder.entries.length - before
    if (builder.isFull) write(group)
    if (openBytes > MostOpenBytes) finish()
  }

  /** Writes the rows that are left, and frees their buffers. */
  def finish(): Unit = for (group <- open.indices if open(group) != null) {
    if (!open(group).isEmpty) write(group)
    open(group) = null
  }

  private def write(group: Int): Unit = {
    openBytes -= open(group).entries.length
    content.clear()
    open(group).finish(content)
    val file = files.begin()
    file.write(content.array, content.length)
    blocks(group).add(files.add(file))
    // A buffer that has grown for a long row must not stay for each group.
    if (open(group).entries.array.length > LongBytes) open(group) = null
  }

  /** Groups that have rows, ascending. */
  def groups: Array[Int] = blocks.indices.filter(blocks(_) != null).toArray

  /** The rows of a group, on the heap. */
  def of(group: Int): ColdBlocksCursor =
    new ColdBlocksCursor(files, if (blocks(group) == null) new IntList else blocks(group))
}

private object ColdByGroup {
  private val MostOpenBytes = 16L << 20
  private val LongBytes = 4 * ColdBlock.LeafTarget
}

package io.keyfold.map.cold

import io.keyfold.map.ChangeCursor
import io.keyfold.map.value.IntList
import io.keyfold.mem.Slice

/** Steps through the rows, or changed rows, of blocks, each of which is written by itself. Its
  * slices are on the heap and stay valid.
  *
  * @param numbers
  *   of the blocks in the files
  */
private[map] final class ColdBlocksCursor(files: ColdFiles, numbers: IntList) extends ChangeCursor {
  private val block = new ColdBlock(isHashed = false)
  private var read = 0
  private var index = -1
  private var row: ColdRow = _
  override val key = new Slice
  override val value = new Slice
  override def hash: Int = row.hash
  override def appended: Boolean = false
  override def removed: Boolean = false

  override def next(): Boolean = {
    index += 1
    if (index >= block.rows && read < numbers.size) {
      files.readBlock(numbers(read), 0, files.lengthOf(numbers(read)), block)
      read += 1
      index = 0
    }
    index < block.rows && {
      row = block.row(index)
      row.key(key)
      row.nextValue(value)
    }
  }

  override def nextValue(): Boolean = row != null && row.nextValue(value)

  override def close(): Unit = {
    read = numbers.size
    index = block.rows
    row = null
  }
}

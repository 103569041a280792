package io.keyfold.store

import io.keyfold.format.Layout.EntryType
import io.keyfold.format.{BlockEntries, FileKind, FileReader}
import io.keyfold.mem.Slice
import io.keyfold.model.VersionId
import io.keyfold.store.file.StoreFiles

/** The net changes of one column family, version by version: a row as it is after the version, a
  * value that was added to a row (`appended`), or the key of a deleted row (`removed`). A version
  * has each key at most once, in no particular order.
  *
  * A row that was put with several values gives its first value as the row and each further one as
  * appended. A row that only had values added, new or not, gives each of them as appended.
  *
  * Slices are borrowed until the next call. Belongs to one thread.
  *
  * @param versions
  *   oldest first
  */
final class ChangeFeed private[store] (
    files: StoreFiles,
    versions: List[VersionId],
    family: String
) extends AutoCloseable {
  import ChangeFeed._

  private var left = versions
  private var file: FileReader = _
  private var blocks: Iterator[BlockEntries] = Iterator.empty
  private var block: BlockEntries = _
  private var entry = -1
  private var entryValue = 0

  val key = new Slice
  val value = new Slice

  /** Version of the change. */
  var version: Long = 0L

  def removed: Boolean = block.entryType(entry) == EntryType.Remove
  def appended: Boolean = entryValue > 0 || block.entryType(entry) == EntryType.Append

  /** Steps to the next change; false at the end. */
  def next(): Boolean = nextValue() || nextEntry()

  private def nextValue(): Boolean = isAtEntry && entryValue + 1 < block.values(entry) && {
    entryValue += 1
    block.value(entry, entryValue, value)
    true
  }

  private def nextEntry(): Boolean = {
    entry += 1
    entryValue = 0
    while ((block == null || entry >= block.size) && nextBlock()) entry = 0
    if (isAtEntry) {
      block.key(entry, key)
      if (!removed) block.value(entry, 0, value)
    }
    isAtEntry
  }

  private def isAtEntry = block != null && entry >= 0 && entry < block.size

  override def close(): Unit = if (file != null) {
    file.close()
    file = null
  }

  private def nextBlock(): Boolean = {
    while (!blocks.hasNext && left.nonEmpty) openFile()
    blocks.hasNext && {
      block = blocks.next()
      true
    }
  }

  private def openFile(): Unit = {
    close()
    val opened = files.open(left.head, FileKind.Delta)
    file = opened
    version = left.head.version
    left = left.tail
    val footer = opened.footer
    blocks = footer.blocks.indices.iterator
      .filter(i => footer.families(footer.blocks(i).family).spec.name == family)
      .grouped(BlocksAtOnce)
      .flatMap(opened.blocks)
  }
}

private object ChangeFeed {

  /** Those of a family lie side by side, and are read with one request. */
  private val BlocksAtOnce = 4
}

package io.keyfold.testkit

import io.keyfold.format.{BlockEntries, FileKind, FileReader, Footer}
import io.keyfold.io.BlobStore
import io.keyfold.mem.Slice

/** All that a reader sees of a file, as values that compare.
  *
  * @param blocks
  *   entries of each block
  */
final case class FileContents(kind: FileKind, footer: Footer, blocks: Seq[Seq[Entry]]) {
  def entries: Seq[Entry] = blocks.flatten
}

/** What a file says of one key.
  *
  * @param entryType
  *   a code of `Layout.EntryType`
  */
final case class Entry(entryType: Int, hash: Int, key: Bytes, values: Seq[Bytes])

object FileContents {

  /** Opens a file under the name that `path` ends with and reads all its blocks. */
  def read(blobs: BlobStore, path: String): FileContents = {
    val file = open(blobs, path)
    try
      FileContents(
        file.kind,
        file.footer,
        file.footer.blocks.indices.map(i => entriesOf(file.blocks(Seq(i)).head))
      )
    finally file.close()
  }

  /** Opens a file under the name that `path` ends with. */
  def open(blobs: BlobStore, path: String): FileReader = {
    val name = path.drop(path.lastIndexOf('/') + 1)
    val (version, kind) = FileKind
      .parse(name)
      .getOrElse(throw new IllegalArgumentException(s"Invalid file name: $name"))
    FileReader.open(blobs, path, version, kind)
  }

  private def entriesOf(block: BlockEntries): Seq[Entry] = {
    val slice = new Slice
    (0 until block.size).map { i =>
      Entry(
        block.entryType(i),
        block.hash(i),
        Bytes.of(block.key(i, slice)),
        (0 until block.values(i)).map(j => Bytes.of(block.value(i, j, slice)))
      )
    }
  }
}

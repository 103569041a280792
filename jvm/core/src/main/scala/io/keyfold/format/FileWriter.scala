package io.keyfold.format

import java.io.OutputStream

import io.keyfold.format.Layout.EntryType
import io.keyfold.format.wire.{ByteSink, Checksum, Codec}
import io.keyfold.mem.Slice
import io.keyfold.model.Family

/** Writes one file: groups of entries, then the footer. The caller owns and closes the stream.
  *
  * Order of calls: for each family and each group in [[io.keyfold.group.GroupOrder]]: `startGroup`,
  * then its entries; at the end one `finish`.
  *
  * @param blockTarget
  *   raw bytes at which a block is closed
  * @param entryTarget
  *   raw bytes of an entry at which further values go into an entry that continues it
  */
final class FileWriter(
    out: OutputStream,
    kind: FileKind,
    codec: Codec,
    rowChecksums: Boolean,
    blockTarget: Int = Layout.BlockTarget,
    entryTarget: Int = Layout.EntryTarget
) {
  private val flags = if (rowChecksums) Layout.RowChecksumsFlag else 0
  private val block = new BlockBuilder(rowChecksums)
  private val blocks = IndexedSeq.newBuilder[Block]
  private val groups = new GroupRuns.Builder(0)
  private val stored = new ByteSink
  private var blockCount = 0
  private var position = 0L
  private var family = 0
  private var group = 0
  private var groupBlock = 0
  private var groupEntry = 0
  private var groupEntries = 0
  private var groupBytes = 0L
  private var groupStart = 0
  private var continued = 0

  emit(FileWriter.header(kind.code, flags))

  /** The following entries belong to `newGroup` of family `newFamily`, an index into the footer's
    * families.
    *
    * @param isSplit
    *   whether a later rescale is likely to separate the group from the one before, so that a block
    *   with both would be read twice
    */
  def startGroup(newFamily: Int, newGroup: Int, isSplit: Boolean = false): Unit = {
    endGroup()
    val cuts = isSplit && position + block.rawLength >= Layout.SplitTarget
    if (newFamily != family || cuts || block.rawLength >= blockTarget) endBlock()
    family = newFamily
    group = newGroup
    groupBlock = blockCount
    groupEntry = block.entries
    groupStart = block.rawLength
  }

  /** Adds an entry with one value; `value` is ignored for a REMOVE. */
  def add(entryType: Int, hash: Int, key: Slice, value: Slice): Unit = {
    if (block.rawLength - groupStart >= blockTarget) {
      endBlock()
      groupStart = block.rawLength
    }
    groupBytes += block.add(entryType, hash, key, value)
    groupEntries += 1
  }

  /** Adds another value of the row whose entry was added last: to that entry, or to one that
    * continues it.
    */
  def addValue(hash: Int, key: Slice, value: Slice): Unit =
    if (block.entryLength < entryTarget) groupBytes += block.addValue(value)
    else {
      add(EntryType.Append, hash, key, value)
      continued += 1
    }

  /** Writes footer and trailer.
    *
    * @param head
    *   for a snapshot: the file whose version it holds, if that file may be replaced by another of
    *   its name
    * @return
    *   the fingerprint of the file
    */
  def finish(
      identity: Identity,
      lineage: Seq[Ancestor],
      families: Seq[Family],
      dropped: Seq[String] = Nil,
      references: Option[References] = None,
      head: Option[Fingerprint] = None
  ): Fingerprint = {
    endGroup()
    endBlock()
    val footer = Footer(
      identity,
      lineage,
      families,
      dropped,
      blocks.result(),
      groups.result(),
      references,
      head,
      continued,
      kind.base
    )
    val raw = FooterCodec.encode(footer)
    val end = new ByteSink(raw.length + Layout.TrailerLength)
    codec.compress(raw, end)
    val stored = end.length
    end.i64(position + stored + Layout.TrailerLength)
    end.i32(stored)
    end.i32(raw.length)
    end.u8(codec.code)
    end.u8(0)
    end.u16(Layout.FormatVersion)
    end.u8(kind.code)
    end.u8(flags)
    end.u16(0)
    val checksum = Checksum.of(end.array, 0, end.length)
    end.i32(checksum)
    end.bytes(Layout.TrailerMagic, Layout.TrailerMagic.length)
    emit(end)
    Fingerprint(position, checksum)
  }

  private def endGroup(): Unit = {
    if (groupEntries > 0) {
      groups.add(family, group, groupBlock, groupEntry, groupEntries, groupBytes)
    }
    groupEntries = 0
    groupBytes = 0L
  }

  private def endBlock(): Unit = if (block.entries > 0) {
    val raw = block.build()
    stored.clear()
    codec.compress(raw, stored)
    blocks += Block(
      family,
      codec,
      position,
      stored.length,
      raw.length,
      block.entries,
      Checksum.of(stored.array, 0, stored.length)
    )
    emit(stored)
    blockCount += 1
    block.clear()
  }

  private def emit(bytes: ByteSink): Unit = {
    out.write(bytes.array, 0, bytes.length)
    position += bytes.length
  }
}

private[format] object FileWriter {

  /** The first bytes of a file: docs/FORMAT.md, section 3.1. */
  def header(kind: Int, flags: Int): ByteSink = {
    val header = new ByteSink(Layout.HeaderLength)
    header.bytes(Layout.HeaderMagic, Layout.HeaderMagic.length)
    header.u16(Layout.FormatVersion)
    header.u8(kind)
    header.u8(flags)
    header.i32(0)
    header.i32(Checksum.of(header.array, 0, header.length))
    header
  }
}

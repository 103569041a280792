package io.keyfold.format

import java.io.{EOFException, FileNotFoundException, IOException}
import java.util.Arrays

import scala.util.control.NonFatal

import io.keyfold.errors.{CorruptFile, ForeignFile, OutOfMemory, UnknownFormat}
import io.keyfold.format.Layout.EntryType
import io.keyfold.format.wire.{ByteSource, Checksum, Codec}
import io.keyfold.group.KeyGroups
import io.keyfold.io.{BlobReader, BlobStore, ListedFile, OnFailure, TailCachedReader}
import io.keyfold.model.VersionId

/** An open file whose footer has been checked; blocks are read and checked on demand, by one thread
  * after the other.
  *
  * @param path
  *   full name, for messages
  */
final class FileReader private (
    blob: BlobReader,
    val path: String,
    val kind: FileKind,
    flags: Int,
    val footer: Footer,
    checksum: Int
) extends AutoCloseable {

  /** Number of the first entry of each block and of each group run, counted over the file. */
  private lazy val blockStarts = footer.blocks.scanLeft(0)(_ + _.entries)
  private lazy val runStarts = footer.groups.scanLeft(0)(_ + _.entries).toArray

  /** The block read last, if its last entry may be continued in the next. */
  private var last: BlockEntries = _
  private var lastIndex = -1
  private var closed = false

  /** Length of the file in bytes. */
  def length: Long = blob.length

  def fingerprint: Fingerprint = Fingerprint(length, checksum)

  /** Reads blocks, with one request for those that follow each other.
    *
    * @param indices
    *   into the footer's blocks, ascending
    * @throws io.keyfold.errors.CorruptFile
    *   if one is damaged
    */
  def blocks(indices: Seq[Int]): Seq[BlockEntries] = synchronized {
    if (indices.isEmpty) Nil
    else {
      val from = indices.head
      val (together, left) = indices.splitAt(indices.zipWithIndex.segmentLength { case (index, i) =>
        index == from + i
      })
      val bytes = stored(from, from + together.size)
      var at = 0
      val found = together.map { index =>
        val start = at
        at += footer.blocks(index).storedLength
        entriesOf(index, Arrays.copyOfRange(bytes, start, at))
      }
      found ++ blocks(left)
    }
  }

  /** Reads blocks as they are in the file, with one request.
    *
    * @param from
    *   index of the first
    * @param until
    *   one past the last
    * @throws io.keyfold.errors.CorruptFile
    *   if one has another checksum than in the footer
    */
  def stored(from: Int, until: Int): Array[Byte] = synchronized {
    if (closed) throw new IOException(s"$path was closed")
    val blocks = footer.blocks.slice(from, until)
    val stored = FileReader.read(blob, path, blocks.head.offset, blocks.map(_.storedLength).sum)
    var at = 0
    for ((block, i) <- blocks.zipWithIndex) {
      val checksum = Checksum.of(stored, at, block.storedLength)
      FileReader.expect(path, nameOf(from + i), checksum, block.checksum)
      at += block.storedLength
    }
    stored
  }

  /** Whether these are the bytes of a block. */
  def isBlock(index: Int, stored: Array[Byte]): Boolean =
    Checksum.of(stored) == footer.blocks(index).checksum

  private def nameOf(index: Int) = s"block $index"

  /** The same as [[entriesOf]], to look for single keys.
    *
    * @param room
    *   gives an array of at least so many bytes, which belongs to the result as long as that is
    *   used
    */
  def lookupOf(
      index: Int,
      stored: Array[Byte],
      room: Int => Array[Byte]
  ): BlockLookup = {
    val block = footer.blocks(index)
    val (name, length) = (nameOf(index), block.rawLength)
    val raw = FileReader.decompress(path, name, block.codec, stored, length, room)
    new BlockLookup(raw, length, block.entries, kind.isChange, hasRowChecksums, path, name)
  }

  private def hasRowChecksums = (flags & Layout.RowChecksumsFlag) != 0

  /** The entries of a block, from its bytes in the file, which may be closed.
    *
    * @throws io.keyfold.errors.CorruptFile
    *   if they are not as they must be
    */
  def entriesOf(index: Int, stored: Array[Byte]): BlockEntries = synchronized {
    val block = footer.blocks(index)
    val name = nameOf(index)
    val raw = FileReader.decompress(path, name, block.codec, stored, block.rawLength)
    val multiValue = footer.families(block.family).spec.multiValue
    val entries =
      new BlockEntries(
        raw,
        block.entries,
        kind,
        footer.continued > 0,
        multiValue,
        hasRowChecksums,
        path,
        name
      )
    checkGroups(index, entries)
    if (kind == FileKind.Snapshot && footer.continued > 0) checkContinued(index, entries)
    entries
  }

  /** Every entry must belong to the key group that lists it. */
  private def checkGroups(index: Int, entries: BlockEntries): Unit = {
    val start = blockStarts(index)
    var run = Arrays.binarySearch(runStarts, start)
    if (run < 0) run = -run - 2
    var listed = footer.groups(run).group
    var i = 0
    while (i < entries.size) {
      if (runStarts(run + 1) == start + i) {
        run += 1
        listed = footer.groups(run).group
      }
      val group = KeyGroups.groupOf(entries.hash(i), footer.identity.keyGroups)
      if (group != listed) {
        fail(
          s"block $index entry $i has hash ${entries.hash(i)} of key group $group, it is listed " +
            s"under $listed"
        )
      }
      i += 1
    }
  }

  /** In a snapshot, an APPEND continues the entry before it. That may be in the block before, which
    * a reader of the whole key group has read just now; a reader of others need not have it.
    */
  private def checkContinued(index: Int, entries: BlockEntries): Unit = {
    var i = 0
    while (i < entries.size) {
      val continues = entries.entryType(i) != EntryType.Append || {
        if (i > 0) entries.sameKey(i, entries, i - 1)
        else if (Arrays.binarySearch(runStarts, blockStarts(index)) >= 0) false
        else lastIndex != index - 1 || entries.sameKey(i, last, last.size - 1)
      }
      if (!continues) fail(s"block $index entry $i does not continue the entry before it")
      i += 1
    }
    last = entries
    lastIndex = index
  }

  /** Checks what the footer says against the file's name and length. */
  private def checkFooter(version: VersionId, blocksEnd: Long): Unit = {
    if (footer.identity.version != version) {
      fail(s"it holds version ${footer.identity.version}, not $version")
    }
    if (footer.dropped.nonEmpty && !kind.isChange) {
      fail(s"a ${kind.ending} file must not drop families")
    }
    if (footer.references.isDefined != (kind == FileKind.Reference)) {
      fail(s"a ${kind.ending} file must not have references")
    }
    if (footer.head.isDefined && kind != FileKind.Snapshot) {
      fail(s"a ${kind.ending} file must not name a head")
    }
    if (kind == FileKind.Reference && footer.blocks.nonEmpty) fail("a reference has no blocks")
    if (footer.base != kind.base) fail(s"its base is ${footer.base.fold("none")(_.toString)}")
    footer.lineage.foldLeft(Ancestor(version, FileKind.Delta)) { (above, ancestor) =>
      val number = ancestor.version.version
      if (!above.kind.base.fold(number < above.version.version)(_ == number)) {
        fail(s"its lineage goes from ${above.version} to ${ancestor.version}")
      }
      ancestor
    }
    if (footer.lineage.lastOption.exists(_.kind.base.isDefined)) {
      fail("its lineage ends with a merged delta")
    }
    val end = footer.blocks.foldLeft(Layout.HeaderLength.toLong) { (at, block) =>
      if (block.offset != at) fail(s"no block starts at $at")
      at + block.storedLength
    }
    if (end != blocksEnd) fail(s"blocks end at $end, not at $blocksEnd")
  }

  /** The content of the file is not as it must be. */
  def fail(detail: String): Nothing = throw new CorruptFile(path, detail)

  /** Keeps no block. */
  def forget(): Unit = synchronized {
    last = null
    lastIndex = -1
  }

  /** Waits for a block that is being read. */
  override def close(): Unit = synchronized {
    closed = true
    blob.close()
  }
}

object FileReader {
  import Layout._

  /** Opens a file and checks all but its blocks: docs/FORMAT.md, rules R1 to R3.
    *
    * @param path
    *   relative to the store's root
    * @param version
    *   and `kind`: as the file's name says
    * @param tail
    *   bytes to fetch with the trailer, so that the footer and small blocks need no further request
    * @param listed
    *   the file as a listing has shown it
    * @throws java.io.FileNotFoundException
    *   if the file does not exist
    */
  def open(
      blobs: BlobStore,
      path: String,
      version: VersionId,
      kind: FileKind,
      tail: Int = TailCachedReader.Tail,
      listed: Option[ListedFile] = None
  ): FileReader = {
    val blob = listed.fold(blobs.open(path))(blobs.open(path, _))
    OnFailure(blob.close()) {
      open(new TailCachedReader(blob, tail), blobs.describe(path), version, kind)
    }
  }

  private def open(blob: BlobReader, path: String, version: VersionId, kind: FileKind) = {
    val header = read(blob, path, 0, math.min(blob.length, HeaderLength.toLong).toInt)
    val trailerAt = blob.length - TrailerLength
    val trailer =
      if (trailerAt < HeaderLength) Array.emptyByteArray
      else read(blob, path, trailerAt, TrailerLength)
    checkMagics(header, trailer, path, blob.length)
    val start = new ByteSource(header, HeaderMagic.length, HeaderLength, path, "header")
    val copy = new ByteSource(trailer, TrailerCopyAt, TrailerLength, path, "trailer")
    for (found <- Seq(start.u16(), copy.u16()) if found != FormatVersion) {
      throw new UnknownFormat(
        path,
        s"it has format version $found, this release reads version $FormatVersion"
      )
    }

    val in = new ByteSource(trailer, 0, TrailerLength, path, "trailer")
    val length = in.i64()
    if (length != blob.length) {
      throw new CorruptFile(path, s"the file has ${blob.length} bytes, its trailer says $length")
    }
    val stored = in.length()
    if (stored > trailerAt - HeaderLength) in.fail(s"a footer of $stored bytes does not fit")
    val end = read(blob, path, trailerAt - stored, stored + TrailerLength)
    val checksum = ByteSource.i32(trailer, TrailerChecksumAt)
    expect(path, "footer", Checksum.of(end, 0, stored + TrailerChecksumAt), checksum)
    expect(
      path,
      "header",
      Checksum.of(header, 0, HeaderChecksumAt),
      ByteSource.i32(header, HeaderChecksumAt)
    )

    val code = start.u8()
    val flags = start.u8()
    if (copy.u8() != code || copy.u8() != flags)
      in.fail("its kind or flags differ from the header's")
    if (code != kind.code)
      start.fail(s"its kind is $code, a ${kind.ending} file has kind ${kind.code}")
    val reserved = Seq(flags & ~RowChecksumsFlag, start.i32(), trailer(17).toInt, copy.u16())
    if (reserved.exists(_ != 0)) in.fail("reserved bytes are not 0")

    val rawLength = in.length()
    if (rawLength > stored * MaxFooterRatio) {
      in.fail(s"a footer of $stored bytes cannot have $rawLength")
    }
    val codec = FooterCodec.codec(in)
    val raw = decompress(path, "footer", codec, Arrays.copyOf(end, stored), rawLength)
    val footer = FooterCodec.decode(raw, path, kind)
    val file = new FileReader(blob, path, kind, flags, footer, checksum)
    file.checkFooter(version, blocksEnd = trailerAt - stored)
    file
  }

  /** @param trailer
    *   empty if the file is too short to have one
    */
  private def checkMagics(
      header: Array[Byte],
      trailer: Array[Byte],
      path: String,
      length: Long
  ): Unit = {
    val headerFits =
      header.take(HeaderMagic.length).sameElements(HeaderMagic.take(header.length))
    val trailerFits = trailer.endsWith(TrailerMagic)
    if (!headerFits && !trailerFits) {
      throw new ForeignFile(path, "it has neither Keyfold's header nor its trailer")
    }
    if (!headerFits) throw new CorruptFile(path, "the header is not Keyfold's")
    if (!trailerFits) throw new CorruptFile(path, s"it is truncated to $length bytes")
  }

  private[format] def expect(path: String, part: String, found: Int, expected: Int): Unit =
    if (found != expected) {
      throw new CorruptFile(path, f"$part has checksum $found%08x instead of $expected%08x")
    }

  private[format] def decompress(
      path: String,
      part: String,
      codec: Codec,
      stored: Array[Byte],
      rawLength: Int,
      room: Int => Array[Byte] = new Array[Byte](_)
  ): Array[Byte] =
    try codec.decompress(stored, rawLength, room)
    catch {
      case e: OutOfMemoryError =>
        throw new OutOfMemory(
          s"Cannot read $path: the heap has no room for the $rawLength bytes of its $part. Give the " +
            "JVM more heap (spark.executor.memory, spark.driver.memory).",
          e
        )
      case NonFatal(e) =>
        throw new CorruptFile(path, s"$part cannot be decompressed: ${e.getMessage}", e)
    }

  /** Reads a range of the file; a file that shrank while open counts as damaged. */
  private def read(blob: BlobReader, path: String, position: Long, count: Int): Array[Byte] =
    try blob.read(position, count)
    catch {
      case e: EOFException          => throw new CorruptFile(path, s"it ends at ${e.getMessage}", e)
      case e: FileNotFoundException => throw e
      case e: IOException           =>
        throw new IOException(s"Cannot read $count bytes at $position of $path: ${e.getMessage}", e)
    }
}

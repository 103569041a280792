package io.keyfold.format

import java.io.{EOFException, FileNotFoundException, IOException}

import scala.util.control.NonFatal

import io.keyfold.errors.{CorruptFile, ForeignFile, UnknownFormat}
import io.keyfold.io.{BlobReader, BlobStore, TailCachedReader}

/** An open file whose footer has been checked; blocks are read and checked when asked for.
  *
  * @param path
  *   full name, for messages
  */
final class FileReader private (
    blob: BlobReader,
    val path: String,
    val kind: FileKind,
    flags: Int,
    val footer: Footer
) extends AutoCloseable {

  /** Bytes of the file. */
  def length: Long = blob.length

  /** Reads a block.
    *
    * @param index
    *   into the footer's blocks
    * @throws io.keyfold.errors.CorruptFile
    *   if it is not what was written
    */
  def block(index: Int): BlockEntries = {
    val block = footer.blocks(index)
    val name = s"block $index"
    val stored = FileReader.read(blob, path, block.offset, block.storedLength)
    val found = Checksum.of(stored)
    if (found != block.checksum) {
      throw new CorruptFile(
        path,
        f"$name has checksum $found%08x, the footer says ${block.checksum}%08x"
      )
    }
    val raw =
      try block.codec.decompress(stored, block.rawLength)
      catch {
        case NonFatal(e) =>
          throw new CorruptFile(path, s"$name cannot be decompressed: ${e.getMessage}", e)
      }
    val family = footer.families(block.family).spec
    val rowChecksums = (flags & Layout.RowChecksumsFlag) != 0
    new BlockEntries(raw, block.entries, family.multiValue, rowChecksums, path, name)
  }

  override def close(): Unit = blob.close()
}

object FileReader {
  import Layout._

  /** Opens a file and checks all but its blocks: docs/FORMAT.md, rules R1 to R3.
    *
    * @param path
    *   relative to the store's root
    * @param version
    *   and `kind`: what the file's name says it is
    * @throws java.io.FileNotFoundException
    *   if it is not there
    */
  def open(blobs: BlobStore, path: String, version: VersionId, kind: FileKind): FileReader = {
    val blob = blobs.open(path)
    try open(new TailCachedReader(blob), blobs.describe(path), version, kind)
    catch {
      case NonFatal(e) =>
        blob.close()
        throw e
    }
  }

  private def open(blob: BlobReader, path: String, version: VersionId, kind: FileKind) = {
    val flags = checkEnds(blob, path, kind)
    val tail = read(blob, path, blob.length - TrailerLength, TrailerLength)
    val trailer = new ByteSource(tail, 0, tail.length, path, "trailer")
    val length = trailer.i64()
    if (length != blob.length) {
      throw new CorruptFile(path, s"the file has ${blob.length} bytes, its trailer says $length")
    }
    val footerLength = trailer.length()
    if (footerLength > length - HeaderLength - TrailerLength) {
      trailer.fail(s"a footer of $footerLength bytes does not fit the file")
    }
    val bytes =
      read(blob, path, length - TrailerLength - footerLength, footerLength + TrailerLength)
    val expected = ByteSource.i32(tail, 16)
    val found = Checksum.of(bytes, 0, footerLength + 16)
    if (found != expected) {
      throw new CorruptFile(path, f"footer has checksum $found%08x, the trailer says $expected%08x")
    }
    val footer = FooterCodec.decode(bytes, footerLength, path)
    if (footer.identity.version != version) {
      throw new CorruptFile(path, s"it holds version ${footer.identity.version}, not $version")
    }
    if (footer.references.isDefined != (kind == FileKind.Reference)) {
      throw new CorruptFile(path, s"references do not go with a ${kind.ending} file")
    }
    val blocksEnd = length - TrailerLength - footerLength
    footer.blocks.foreach { b =>
      if (b.offset < HeaderLength || b.offset + b.storedLength > blocksEnd) {
        throw new CorruptFile(path, s"a block at ${b.offset} does not fit the file")
      }
    }
    new FileReader(blob, path, kind, flags, footer)
  }

  /** Checks header and what the trailer repeats of it.
    *
    * @return
    *   the header's flags
    */
  private def checkEnds(blob: BlobReader, path: String, kind: FileKind): Int = {
    if (blob.length < HeaderLength + TrailerLength) {
      throw new CorruptFile(path, s"it is truncated to ${blob.length} bytes")
    }
    val header = read(blob, path, 0, HeaderLength)
    val trailer = read(blob, path, blob.length - TrailerLength, TrailerLength)
    val headerFits = header.startsWith(HeaderMagic)
    val trailerFits = trailer.endsWith(TrailerMagic)
    if (!headerFits && !trailerFits) {
      throw new ForeignFile(path, "it has neither Keyfold's header nor its trailer")
    }
    if (!headerFits) throw new CorruptFile(path, "the header is not Keyfold's")
    if (!trailerFits) throw new CorruptFile(path, "it is truncated: the trailer is missing")
    val start = new ByteSource(header, 4, HeaderLength, path, "header")
    val end = new ByteSource(trailer, 12, TrailerLength, path, "trailer")
    for (version <- Seq(start.u16(), end.u16()) if version != FormatVersion) {
      throw new UnknownFormat(path, version, FormatVersion)
    }
    if (Checksum.of(header, 0, 12) != ByteSource.i32(header, 12)) {
      throw new CorruptFile(path, "the header has a wrong checksum")
    }
    val code = start.u8()
    val flags = start.u8()
    if (end.u8() != code || end.u8() != flags) {
      throw new CorruptFile(path, "header and trailer do not agree")
    }
    if (code != kind.code) {
      throw new CorruptFile(path, s"it is of kind $code, a ${kind.ending} file has ${kind.code}")
    }
    flags
  }

  /** A range of the file; a file that got shorter while open counts as damaged. */
  private def read(blob: BlobReader, path: String, position: Long, count: Int): Array[Byte] =
    try blob.read(position, count)
    catch {
      case e: EOFException          => throw new CorruptFile(path, s"it ends at ${e.getMessage}", e)
      case e: FileNotFoundException => throw e
      case e: IOException           =>
        throw new IOException(s"Cannot read $count bytes at $position of $path", e)
    }
}

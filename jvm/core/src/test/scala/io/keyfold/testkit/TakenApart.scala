package io.keyfold.testkit

import java.nio.{ByteBuffer, ByteOrder}

import io.keyfold.format.wire.{ByteSink, Checksum, Codec}

/** A file taken apart by docs/FORMAT.md, to be put together again with right lengths, places and
  * checksums around whatever was changed in it: so that a reader gets to see the change.
  *
  * @param sections
  *   of the footer
  * @param blocks
  *   raw bytes of each
  */
final case class TakenApart(
    kind: Int,
    flags: Int,
    sections: Vector[TakenApart.Section],
    blocks: Vector[Array[Byte]],
    codec: Codec
) {
  import TakenApart._

  override def toString = s"kind $kind, sections ${sections.map(_.code).mkString(" ")}"

  /** The file, its blocks stored anew as the table of blocks, changed or not, says. */
  def together(): Array[Byte] = {
    val table = sections.find(_.code == Blocks).map(_.payload)
    val codecs = table.toVector.flatMap(t => blocks.indices.map(codecAt(t, _)))
    val stored = blocks.zip(codecs).map { case (raw, codec) => compressed(codec, raw) }
    val placed = sections.map { section =>
      if (section.code != Blocks || stored.length != blocks.length) section
      else section.copy(payload = withPlaces(section.payload, stored))
    }
    copy(sections = placed).around(stored.flatten.toArray)
  }

  /** The file with its sections as they are behind these bytes of blocks. */
  def around(stored: Array[Byte]): Array[Byte] = {
    val raw = sections.toArray.flatMap { s =>
      u16(s.code) ++ u16(s.flags) ++ u32(s.payload.length) ++ s.payload
    }
    framed(stored, compressed(codec, raw), raw.length, codec.code)
  }

  /** The file with a footer given as it is stored. */
  def framed(
      stored: Array[Byte],
      footer: Array[Byte],
      rawLength: Int,
      codec: Int
  ): Array[Byte] = {
    val head = "KFLD".getBytes ++ u16(1) ++ Array(kind.toByte, flags.toByte) ++ u32(0)
    val body = head ++ u32(Checksum.of(head)) ++ stored ++ footer
    val tail = u64(body.length + 32L) ++ u32(footer.length) ++ u32(rawLength) ++
      Array(codec.toByte, 0.toByte) ++ u16(1) ++ Array(kind.toByte, flags.toByte) ++ u16(0)
    body ++ tail ++ u32(Checksum.of(footer ++ tail)) ++ "DLFK".getBytes
  }

  /** Lengths, offsets and checksums, as far as the table has room for them. */
  private def withPlaces(table: Array[Byte], stored: Vector[Array[Byte]]): Array[Byte] = {
    val n = stored.length
    val out = ByteBuffer.wrap(table.clone()).order(ByteOrder.LITTLE_ENDIAN)
    if (table.length >= 4 + n * 27) for (i <- 0 until n) {
      out.putLong(4 + n * 3 + i * 8, 16L + stored.take(i).map(_.length).sum)
      out.putInt(4 + n * 11 + i * 4, stored(i).length)
      out.putInt(4 + n * 15 + i * 4, blocks(i).length)
      out.putInt(4 + n * 23 + i * 4, Checksum.of(stored(i)))
    }
    out.array
  }

  private def codecAt(table: Array[Byte], block: Int): Codec = {
    val at = 4 + blocks.length * 2 + block
    if (at < table.length) Codec.ofCode(table(at).toInt).getOrElse(Codec.Plain) else Codec.Plain
  }
}

object TakenApart {
  final case class Section(code: Int, flags: Int, payload: Array[Byte])

  /** Code of the section that has the table of blocks. */
  val Blocks = 5

  /** Of a file that is right. */
  def of(file: Array[Byte]): TakenApart = {
    val trailer = file.length - 32
    val in = ByteBuffer.wrap(file).order(ByteOrder.LITTLE_ENDIAN)
    val codec = Codec.ofCode(in.get(trailer + 16).toInt).get
    val stored = file.slice(trailer - in.getInt(trailer + 8), trailer)
    val sections = sectionsOf(codec.decompress(stored, in.getInt(trailer + 12)))
    val table = ByteBuffer
      .wrap(sections.find(_.code == Blocks).get.payload)
      .order(ByteOrder.LITTLE_ENDIAN)
    val n = table.getInt(0)
    val blocks = Vector.tabulate(n) { i =>
      val offset = table.getLong(4 + n * 3 + i * 8).toInt
      val bytes = file.slice(offset, offset + table.getInt(4 + n * 11 + i * 4))
      val ofBlock = Codec.ofCode(table.get(4 + n * 2 + i).toInt).get
      ofBlock.decompress(bytes, table.getInt(4 + n * 15 + i * 4))
    }
    TakenApart(file(6).toInt, file(7).toInt, sections, blocks, codec)
  }

  private def sectionsOf(raw: Array[Byte]): Vector[Section] = {
    val in = ByteBuffer.wrap(raw).order(ByteOrder.LITTLE_ENDIAN)
    val found = Vector.newBuilder[Section]
    while (in.hasRemaining) {
      val (code, flags) = (in.getShort.toInt, in.getShort.toInt)
      val payload = new Array[Byte](in.getInt)
      in.get(payload)
      found += Section(code, flags, payload)
    }
    found.result()
  }

  def compressed(codec: Codec, raw: Array[Byte]): Array[Byte] = {
    val (from, to) = (new ByteSink, new ByteSink(1))
    from.bytes(raw, raw.length)
    codec.compress(from, to)
    java.util.Arrays.copyOf(to.array, to.length)
  }

  private def little(width: Int)(put: ByteBuffer => ByteBuffer): Array[Byte] =
    put(ByteBuffer.allocate(width).order(ByteOrder.LITTLE_ENDIAN)).array

  def u16(value: Int): Array[Byte] = little(2)(_.putShort(value.toShort))
  def u32(value: Int): Array[Byte] = little(4)(_.putInt(value))
  def u64(value: Long): Array[Byte] = little(8)(_.putLong(value))
}

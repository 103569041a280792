package io.keyfold.format.wire

import com.github.luben.zstd.Zstd
import net.jpountz.lz4.LZ4Factory

/** Compression of a block. Spark ships both libraries. */
sealed abstract class Codec(val code: Int, val name: String) {

  /** Appends the stored bytes of `raw` to `out`. */
  def compress(raw: ByteSink, out: ByteSink): Unit

  /** Decompresses. `rawLength`, from the file, is checked before anything is allocated. Any
    * exception means damaged bytes.
    *
    * @param room
    *   gives an array of at least so many bytes
    * @return
    *   an array whose first `rawLength` bytes are the raw ones
    */
  def decompress(
      stored: Array[Byte],
      rawLength: Int,
      room: Int => Array[Byte] = new Array[Byte](_)
  ): Array[Byte]
}

object Codec {
  case object Plain extends Codec(0, "none") {
    override def compress(raw: ByteSink, out: ByteSink): Unit = out.append(raw)
    override def decompress(
        stored: Array[Byte],
        rawLength: Int,
        room: Int => Array[Byte]
    ): Array[Byte] = {
      require(stored.length == rawLength, s"${stored.length} bytes stored instead of $rawLength")
      stored
    }
  }

  case object Zstandard extends Codec(1, "zstd") {
    private val Level = 1

    override def compress(raw: ByteSink, out: ByteSink): Unit = {
      val most = Zstd.compressBound(raw.length.toLong).toInt
      val to = out.room(most)
      val n = Zstd.compressByteArray(to, out.length, most, raw.array, 0, raw.length, Level)
      if (Zstd.isError(n)) {
        throw new IllegalStateException(s"zstd: ${Zstd.getErrorName(n)}")
      }
      out.advance(n.toInt)
    }

    override def decompress(
        stored: Array[Byte],
        rawLength: Int,
        room: Int => Array[Byte]
    ): Array[Byte] = {
      val most = ZstdFrame.mostBytes(stored)
      require(rawLength <= most, s"zstd frame of at most $most bytes cannot have $rawLength")
      val promised = Zstd.getFrameContentSize(stored)
      require(promised == rawLength, s"zstd frame has $promised bytes instead of $rawLength")
      val out = room(rawLength)
      val n = Zstd.decompressByteArray(out, 0, rawLength, stored, 0, stored.length)
      require(n == rawLength, s"zstd block has $n bytes instead of $rawLength")
      out
    }
  }

  case object Lz4 extends Codec(2, "lz4") {
    private val factory = LZ4Factory.fastestInstance()

    /** One byte of a match length encodes at most 255 bytes. */
    private val MaxRatio = 255L

    override def compress(raw: ByteSink, out: ByteSink): Unit = {
      val compressor = factory.fastCompressor()
      val most = compressor.maxCompressedLength(raw.length)
      val to = out.room(most)
      out.advance(compressor.compress(raw.array, 0, raw.length, to, out.length, most))
    }

    override def decompress(
        stored: Array[Byte],
        rawLength: Int,
        room: Int => Array[Byte]
    ): Array[Byte] = {
      require(
        rawLength.toLong <= stored.length * MaxRatio,
        s"lz4 block of ${stored.length} bytes cannot have $rawLength"
      )
      val out = room(rawLength)
      val n = factory.safeDecompressor().decompress(stored, 0, stored.length, out, 0, rawLength)
      require(n == rawLength, s"lz4 block has $n bytes instead of $rawLength")
      out
    }
  }

  val all: Seq[Codec] = Seq(Zstandard, Lz4, Plain)

  def ofCode(code: Int): Option[Codec] = all.find(_.code == code)
  def ofName(name: String): Option[Codec] = all.find(_.name == name)
}

package io.keyfold.format

import com.github.luben.zstd.Zstd
import net.jpountz.lz4.LZ4Factory

/** Compression of a block. Both libraries are those that Spark ships. */
sealed abstract class Codec(val code: Int, val name: String) {

  /** Stored bytes of the first `length` bytes of `raw`. */
  def compress(raw: Array[Byte], length: Int): Array[Byte]

  /** Raw bytes; `rawLength` is what the file says, and is checked before anything is allocated. Any
    * exception means damaged bytes.
    */
  def decompress(stored: Array[Byte], rawLength: Int): Array[Byte]
}

object Codec {
  case object Plain extends Codec(0, "none") {
    override def compress(raw: Array[Byte], length: Int): Array[Byte] =
      java.util.Arrays.copyOf(raw, length)
    override def decompress(stored: Array[Byte], rawLength: Int): Array[Byte] = {
      require(stored.length == rawLength, s"${stored.length} bytes stored instead of $rawLength")
      stored
    }
  }

  case object Zstandard extends Codec(1, "zstd") {
    private val Level = 1

    override def compress(raw: Array[Byte], length: Int): Array[Byte] = {
      val out = new Array[Byte](Zstd.compressBound(length.toLong).toInt)
      val n = Zstd.compressByteArray(out, 0, out.length, raw, 0, length, Level)
      if (Zstd.isError(n)) {
        throw new IllegalStateException(s"zstd: ${Zstd.getErrorName(n)}")
      }
      java.util.Arrays.copyOf(out, n.toInt)
    }

    override def decompress(stored: Array[Byte], rawLength: Int): Array[Byte] = {
      val promised = Zstd.getFrameContentSize(stored)
      require(promised == rawLength, s"zstd frame has $promised bytes instead of $rawLength")
      val out = new Array[Byte](rawLength)
      val n = Zstd.decompressByteArray(out, 0, rawLength, stored, 0, stored.length)
      require(n == rawLength, s"zstd block has $n bytes instead of $rawLength")
      out
    }
  }

  case object Lz4 extends Codec(2, "lz4") {
    private val factory = LZ4Factory.fastestInstance()

    /** A byte of a match length stands for 255 bytes at most. */
    private val MaxRatio = 255L

    override def compress(raw: Array[Byte], length: Int): Array[Byte] = {
      val compressor = factory.fastCompressor()
      val out = new Array[Byte](compressor.maxCompressedLength(length))
      java.util.Arrays.copyOf(out, compressor.compress(raw, 0, length, out, 0, out.length))
    }

    override def decompress(stored: Array[Byte], rawLength: Int): Array[Byte] = {
      require(
        rawLength.toLong <= stored.length * MaxRatio,
        s"lz4 block of ${stored.length} bytes cannot have $rawLength"
      )
      val out = new Array[Byte](rawLength)
      val n = factory.safeDecompressor().decompress(stored, 0, stored.length, out, 0, rawLength)
      require(n == rawLength, s"lz4 block has $n bytes instead of $rawLength")
      out
    }
  }

  val all: Seq[Codec] = Seq(Zstandard, Lz4, Plain)

  def ofCode(code: Int): Option[Codec] = all.find(_.code == code)
  def ofName(name: String): Option[Codec] = all.find(_.name == name)
}

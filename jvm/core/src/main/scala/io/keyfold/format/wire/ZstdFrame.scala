package io.keyfold.format.wire

import com.github.luben.zstd.Zstd

/** The capacity of a Zstandard frame, from the headers of its blocks (RFC 8878, section 3.1.1),
  * because the frame's own header cannot be trusted.
  */
private[format] object ZstdFrame {
  private val Magic = Zstd.magicNumber
  private val MostOfBlock = 128 * 1024

  /** Maximum decompressed length.
    *
    * @throws java.lang.IllegalArgumentException
    *   if the bytes are not one frame
    */
  def mostBytes(frame: Array[Byte]): Long = {
    require(frame.length > 5 && ByteSource.i32(frame, 0) == Magic, "there is no zstd frame")
    val flags = frame(4)
    var at = 5 + headerLength(flags)
    var most = 0L
    var last = false
    while (!last) {
      require(at + 3 <= frame.length, "the zstd frame is cut off")
      val head = (frame(at) & 0xff) | (frame(at + 1) & 0xff) << 8 | (frame(at + 2) & 0xff) << 16
      val size = head >> 3
      last = (head & 1) != 0
      val isRun = (head & 6) == 2
      most += (if ((head & 6) == 4) MostOfBlock else math.min(size, MostOfBlock))
      at += 3 + (if (isRun) 1 else size)
    }
    val end = at + (if ((flags & 4) != 0) 4 else 0)
    require(end == frame.length, s"the zstd frame has $end bytes, not ${frame.length}")
    most
  }

  /** Length of the frame header after its flags. */
  private def headerLength(flags: Byte) = {
    val isOneSegment = (flags & 0x20) != 0
    val contentSize = flags >> 6 & 3 match {
      case 0     => if (isOneSegment) 1 else 0
      case power => 1 << power
    }
    val dictionary = Array(0, 1, 2, 4)(flags & 3)
    (if (isOneSegment) 0 else 1) + dictionary + contentSize
  }
}

package io.keyfold.format.wire

import java.util.zip.CRC32C

/** CRC-32C (Castagnoli) of byte ranges. */
object Checksum {
  def of(bytes: Array[Byte]): Int = of(bytes, 0, bytes.length)

  def of(bytes: Array[Byte], offset: Int, length: Int): Int = {
    val crc = new CRC32C
    crc.update(bytes, offset, length)
    crc.getValue.toInt
  }
}

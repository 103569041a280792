package io.keyfold.mem

import java.nio.{ByteBuffer, MappedByteBuffer}
import java.nio.channels.FileChannel
import java.nio.channels.FileChannel.MapMode
import java.nio.file.Path
import java.nio.file.StandardOpenOption.{CREATE_NEW, DELETE_ON_CLOSE, READ, WRITE}
import java.nio.file.attribute.PosixFilePermissions
import java.util.UUID

/** Memory in files of a folder on a local disk, for what does not fit into main memory.
  *
  * A file loses its name as soon as it is open, so that nothing is left after a crash; its space is
  * free again when it is unmapped. It is seen by `lsof`, not by `du`. Only POSIX does it so.
  *
  * Limit: a file system that does not keep blocks of zeros (one that compresses) may run full when
  * the memory is written to; the JVM reports that as an InternalError.
  */
class SpillFiles(val folder: Path) {

  /** A new file of `bytes` zeros, mapped.
    *
    * Every block is written first: a full disk is an exception here, and not a fault in the middle
    * of an access later.
    *
    * @throws java.io.IOException
    *   if the file cannot be made, written or mapped
    */
  private[mem] def map(bytes: Long): MappedByteBuffer = {
    val channel = open(folder.resolve(s"keyfold-${UUID.randomUUID}.spill"))
    try {
      writeZeros(channel, bytes)
      channel.map(MapMode.READ_WRITE, 0, bytes)
    } finally channel.close()
  }

  /** A new file that nobody else may read. */
  private[mem] def open(file: Path): FileChannel = FileChannel.open(
    file,
    java.util.Set.of(CREATE_NEW, READ, WRITE, DELETE_ON_CLOSE),
    PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"))
  )

  private def writeZeros(channel: FileChannel, bytes: Long): Unit = {
    val zeros = ByteBuffer.allocate(1 << 16)
    var left = bytes
    while (left > 0) {
      zeros.clear().limit(math.min(left, zeros.capacity.toLong).toInt)
      left -= channel.write(zeros)
    }
  }
}

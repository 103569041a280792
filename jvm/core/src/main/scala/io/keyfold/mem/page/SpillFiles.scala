package io.keyfold.mem.page

import java.io.RandomAccessFile
import java.nio.{ByteBuffer, MappedByteBuffer}
import java.nio.channels.FileChannel
import java.nio.channels.FileChannel.MapMode
import java.nio.file.{Files, Path}
import java.nio.file.StandardOpenOption.{CREATE_NEW, DELETE_ON_CLOSE, READ, WRITE}
import java.nio.file.attribute.PosixFilePermissions
import java.util.UUID

import io.keyfold.io.OnFailure

/** Memory in files on a local disk, for state that does not fit into main memory.
  *
  * A file is unlinked as soon as it is open, so a crash leaves nothing behind; its space is freed
  * when it is unmapped. `lsof` shows it, `du` does not. This requires POSIX.
  *
  * Limit: a file system that does not store blocks of zeros (one that compresses) may run full when
  * the memory is written; the JVM reports that as an InternalError.
  */
class SpillFiles(val folder: Path) {
  import SpillFiles._

  /** Maps a new file of `bytes` zeros.
    *
    * Writes every block first, so that a full disk is an exception here and not a fault in a later
    * access.
    *
    * @throws java.io.IOException
    *   if the file cannot be created, written or mapped
    */
  private[mem] def map(bytes: Long): MappedByteBuffer = {
    val channel = open(folder.resolve(s"keyfold-${UUID.randomUUID}.spill"))
    try {
      writeZeros(channel, bytes)
      channel.map(MapMode.READ_WRITE, 0, bytes)
    } finally channel.close()
  }

  /** A new file that only its owner may read. */
  private[mem] def open(file: Path): FileChannel = FileChannel.open(
    file,
    java.util.Set.of(CREATE_NEW, READ, WRITE, DELETE_ON_CLOSE),
    OwnerOnly
  )

  /** A new file that is read and written, not mapped. */
  private[keyfold] def openFile(): OpenFile = {
    val file = folder.resolve(s"keyfold-${UUID.randomUUID}.spill")
    Files.createFile(file, OwnerOnly)
    try {
      val access = new RandomAccessFile(file.toFile, "rw")
      OnFailure(access.close())(new OpenFile(access, FileChannel.open(file, READ)))
    } finally Files.delete(file)
  }

  private def writeZeros(channel: FileChannel, bytes: Long): Unit = {
    val zeros = ByteBuffer.allocate(1 << 16)
    var left = bytes
    while (left > 0) {
      zeros.clear().limit(math.min(left, zeros.capacity.toLong).toInt)
      left -= channel.write(zeros)
    }
  }
}

/** Two ways to a file. */
private[keyfold] final class OpenFile(val access: RandomAccessFile, val channel: FileChannel)

private object SpillFiles {
  private val OwnerOnly =
    PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"))
}

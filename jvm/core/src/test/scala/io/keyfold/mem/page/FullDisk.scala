package io.keyfold.mem.page

import java.io.RandomAccessFile
import java.nio.channels.FileChannel
import java.nio.file.{Files, Path}
import java.nio.file.StandardOpenOption.WRITE

/** Spill files on a disk with room for so many, as the system shows a disk that is full. */
final class FullDisk(var room: Int) extends SpillFiles(Files.createTempDirectory("keyfold-spill")) {
  override private[mem] def open(file: Path): FileChannel = {
    val channel = super.open(file)
    if (takesRoom()) channel
    else {
      channel.close()
      FileChannel.open(Full, WRITE)
    }
  }

  override private[keyfold] def openFile(): OpenFile = {
    val file = super.openFile()
    if (takesRoom()) file
    else {
      file.access.close()
      new OpenFile(new RandomAccessFile(Full.toFile, "rw"), file.channel)
    }
  }

  private def takesRoom() = {
    room -= 1
    room >= 0
  }

  private def Full = Path.of("/dev/full")

  /** Files have no name, so nothing is left in the folder. */
  def delete(): Unit = Files.delete(folder)
}

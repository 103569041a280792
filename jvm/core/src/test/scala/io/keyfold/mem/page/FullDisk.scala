package io.keyfold.mem.page

import java.nio.channels.FileChannel
import java.nio.file.{Files, Path}
import java.nio.file.StandardOpenOption.WRITE

/** Spill files on a disk with room for so many, as the system shows a disk that is full. */
final class FullDisk(var room: Int) extends SpillFiles(Files.createTempDirectory("keyfold-spill")) {
  override private[mem] def open(file: Path): FileChannel = {
    val channel = super.open(file)
    room -= 1
    if (room >= 0) channel
    else {
      channel.close()
      FileChannel.open(Path.of("/dev/full"), WRITE)
    }
  }

  /** Files have no name, so nothing is left in the folder. */
  def delete(): Unit = Files.delete(folder)
}

package io.keyfold.mem.page

import java.nio.file.Files

/** Files on a local disk that a test can damage. */
final class WatchedDisk extends SpillFiles(Files.createTempDirectory("keyfold-watched")) {
  private var opened = List.empty[OpenFile]

  /** Those that are still used. */
  private def files = opened.filter(_.channel.isOpen)

  override private[keyfold] def openFile(): OpenFile = {
    opened ::= super.openFile()
    opened.head
  }

  /** Changes every byte. */
  def scramble(): Unit = for (file <- files) {
    val bytes = new Array[Byte](file.access.length.toInt)
    file.access.seek(0)
    file.access.readFully(bytes)
    file.access.seek(0)
    file.access.write(bytes.map(b => (b ^ 1).toByte))
  }

  def cut(): Unit = files.foreach(_.access.setLength(10))

  /** Reads fail from now on. */
  def close(): Unit = for (file <- files) {
    file.access.close()
    file.channel.close()
  }
}

object WatchedDisk {
  val damages: Seq[(String, WatchedDisk => Unit)] = Seq(
    "a file that has changed" -> (_.scramble()),
    "a file that has become shorter" -> (_.cut()),
    "a disk that fails" -> (_.close())
  )
}

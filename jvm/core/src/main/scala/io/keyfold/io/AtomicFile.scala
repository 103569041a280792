package io.keyfold.io

import java.io.{BufferedOutputStream, FileOutputStream, IOException, OutputStream}
import java.nio.channels.FileChannel
import java.nio.file.StandardCopyOption.ATOMIC_MOVE
import java.nio.file.StandardOpenOption.READ
import java.nio.file.{FileAlreadyExistsException, FileSystemException, Files, Path}
import java.util.UUID

/** A new file of a local file system: written under a temporary name in the same folder, it becomes
  * visible whole by [[replace]] or [[create]], or never.
  *
  * It uses `java.io` streams: a channel is closed under its thread when that is interrupted.
  * Belongs to one thread.
  *
  * @param forced
  *   whether content and name are forced to disk before the file counts as written, so that it
  *   survives a crash of the machine
  * @throws java.io.FileNotFoundException
  *   if the folder does not exist
  */
final class AtomicFile(target: Path, forced: Boolean) {
  private val temporary = target.resolveSibling(s".${target.getFileName}.${UUID.randomUUID}.tmp")
  private val file = new FileOutputStream(temporary.toFile)

  /** Takes the content. */
  val out: OutputStream = new BufferedOutputStream(file)

  /** Makes the file visible, in the place of one of its name if there is one. */
  def replace(): Unit = publish {
    Files.move(temporary, target, ATOMIC_MOVE)
    ()
  }

  /** Makes the file visible if there is none of its name.
    *
    * @throws java.nio.file.FileAlreadyExistsException
    *   if there is one; it stays as it is
    */
  def create(): Unit = publish(link())

  /** Removes what was written; does nothing after [[replace]] or [[create]]. */
  def cancel(): Unit =
    try file.close()
    finally {
      Files.deleteIfExists(temporary)
      ()
    }

  private def publish(step: => Unit): Unit =
    try {
      out.flush()
      if (forced) file.getFD.sync()
      file.close()
      step
      if (forced) AtomicFile.force(target.getParent)
    } finally cancel()

  /** A hard link, other than a move, is refused if the name exists, also if two come at once. Where
    * a file system has no hard links, there is no better way than to look first.
    */
  private def link(): Unit =
    try {
      Files.createLink(target, temporary)
      ()
    } catch {
      // The answer was lost, as on NFS, and the client asked again.
      case _: FileSystemException if isLinked                        => ()
      case e: FileAlreadyExistsException                             => throw e
      case _: UnsupportedOperationException | _: FileSystemException =>
        if (Files.exists(target)) throw new FileAlreadyExistsException(target.toString)
        Files.move(temporary, target, ATOMIC_MOVE)
        ()
    }

  private def isLinked =
    try Files.isSameFile(temporary, target)
    catch { case _: IOException => false }
}

private object AtomicFile {

  /** Forces the names in a folder to disk. The file is visible already, so that an interrupt, which
    * would close the channel, has to wait.
    */
  private def force(folder: Path): Unit = {
    val interrupted = Thread.interrupted()
    try {
      val channel = FileChannel.open(folder, READ)
      try channel.force(true)
      finally channel.close()
    } finally if (interrupted) Thread.currentThread.interrupt()
  }
}

package io.keyfold.spark.admin.rollback

import java.io.IOException

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path

/** Moves files of a checkpoint to a folder below its `keyfold` folder, under the same relative
  * paths, and back.
  *
  * @param name
  *   of that folder
  */
private[admin] final class Aside(checkpoint: String, val name: String, conf: Configuration) {
  private val root = new Path(checkpoint)
  private val folder = new Path(new Path(root, "keyfold"), name)
  private val fileSystem = root.getFileSystem(conf)

  def exists: Boolean = fileSystem.exists(folder)

  /** Sorted paths of the files in the folder, relative to the checkpoint. */
  def files: Seq[String] = {
    val found = fileSystem.listFiles(folder, true)
    Iterator
      .continually(found)
      .takeWhile(_.hasNext)
      .map(_.next().getPath)
      .map(path => fileSystem.makeQualified(folder).toUri.relativize(path.toUri).getPath)
      .toSeq
      .sorted
  }

  /** Whether the checkpoint has the file. */
  def canTake(path: String): Boolean = fileSystem.exists(new Path(root, path))

  /** @return false if the file does not exist */
  def take(path: String): Boolean = canTake(path) && {
    move(new Path(root, path), new Path(folder, path))
    true
  }

  def giveBack(path: String): Unit = move(new Path(folder, path), new Path(root, path))

  private def move(from: Path, to: Path): Unit = {
    if (fileSystem.exists(to)) throw new IOException(s"Cannot move $from: $to is there")
    fileSystem.mkdirs(to.getParent)
    if (!fileSystem.rename(from, to)) throw new IOException(s"Cannot move $from to $to")
  }
}

package io.keyfold.spark.admin.rollback

import java.io.{FileNotFoundException, IOException}
import java.nio.charset.StandardCharsets.UTF_8
import java.util.Arrays

import io.keyfold.errors.Invalid
import io.keyfold.format.FileKind
import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{FileAlreadyExistsException, FileUtil, Path}
import org.apache.spark.sql.keyfold.{CheckpointFiles, CheckpointLogs}

/** Moves files of a folder, a checkpoint or the output of a file sink, to one below it, under the
  * same relative paths, and back.
  *
  * @param home
  *   the folder in it that has all such folders
  * @param name
  *   of the folder that files are moved to
  */
private final class Aside(location: String, home: String, val name: String, conf: Configuration) {
  private val root = new Path(location)
  private val folder = new Path(new Path(root, home), name)
  private val fileSystem = root.getFileSystem(conf)

  /** A copy of the file that the files here build on. */
  private val base = new Path(folder, "base")

  /** Contains the location of the file sink whose log was set aside too. */
  private val sinkNote = new Path(folder, "sink")

  def exists: Boolean = fileSystem.exists(folder)

  def isRootThere: Boolean = fileSystem.exists(root)

  /** Remembers which file of the checkpoint the files here build on. */
  def buildOn(path: String): Unit = copy(path, base)

  /** Copies a file of the root, which then changes there. */
  def copy(path: String): Unit = copy(path, new Path(folder, path))

  private def copy(path: String, to: Path): Unit =
    if (!FileUtil.copy(fileSystem, new Path(root, path), fileSystem, to, false, conf))
      throw new IOException(s"Cannot copy $path to $to")

  def noteSink(location: String): Unit =
    new CheckpointFiles(folder.toString, conf).write(sinkNote.getName, location)

  /** Location of the file sink whose log was set aside too. */
  def sink: Option[String] =
    Option.when(fileSystem.exists(sinkNote))(new String(content(sinkNote), UTF_8))

  /** Whether the root has that file, as it was. */
  def buildsOn(path: String): Boolean = !fileSystem.exists(base) || {
    canTake(path) && Arrays.equals(content(base), content(new Path(root, path)))
  }

  /** Whether the root has the same file as the folder: on an object store a move is a copy and a
    * deletion, and may have been interrupted between them.
    */
  def isBoth(path: String): Boolean = canTake(path) &&
    Arrays.equals(content(new Path(folder, path)), content(new Path(root, path)))

  private def content(file: Path) = {
    val in = fileSystem.open(file)
    try in.readAllBytes()
    finally in.close()
  }

  /** Sorted paths of the files in the folder, relative to the root. */
  def files: Seq[String] = {
    val notes = Set(base, sinkNote).map(fileSystem.makeQualified)
    val found = fileSystem.listFiles(folder, true)
    Iterator
      .continually(found)
      .takeWhile(_.hasNext)
      .map(_.next().getPath)
      .filterNot(notes)
      .map(path => fileSystem.makeQualified(folder).toUri.relativize(path.toUri).getPath)
      .toSeq
      .sorted
  }

  /** Whether the folder has the file. */
  def has(path: String): Boolean = fileSystem.exists(new Path(folder, path))

  /** Whether the root has the file. */
  def canTake(path: String): Boolean = fileSystem.exists(new Path(root, path))

  /** @return false if the file does not exist */
  def take(path: String): Boolean = canTake(path) && {
    move(new Path(root, path), new Path(folder, path))
    true
  }

  /** Puts a file back.
    *
    * @throws io.keyfold.errors.Invalid
    *   if the root has such a file; it stays
    */
  def giveBack(path: String): Unit = {
    if (canTake(path)) throw overtaken(path)
    val name = path.drop(path.lastIndexOf('/') + 1)
    // Nobody else writes under a version's id. Another name may be taken just now, and a rename
    // would replace that file.
    if (FileKind.parse(name).exists(_._1.id.nonEmpty)) {
      move(new Path(folder, path), new Path(root, path))
    } else {
      enter(path)
      drop(path)
    }
  }

  /** Copies a file back, unless there is one.
    *
    * @throws io.keyfold.errors.Invalid
    *   if the root has such a file; it stays
    */
  def enter(path: String): Unit =
    try new CheckpointFiles(folder.toString, conf).copy(path, new CheckpointFiles(location, conf))
    catch {
      case _: FileAlreadyExistsException => throw overtaken(path)
      case _: FileNotFoundException      =>
        CheckpointLogs.stillThere(new Path(folder, path).toString, None)
    }

  /** Deletes a file in the folder. */
  def drop(path: String): Unit = {
    fileSystem.delete(new Path(folder, path), false)
    ()
  }

  private def overtaken(path: String) = new Invalid(
    "KEYFOLD_CONCURRENT_UPDATE",
    s"Cannot put ${new Path(folder, path)} back: by now there is another ${new Path(root, path)}. A " +
      "query or another command has written it meanwhile, and it stays. Stop the query, and look at " +
      "the checkpoint; what was set aside and is not back is still in the folder."
  )

  private def move(from: Path, to: Path): Unit = {
    if (fileSystem.exists(to)) throw new IOException(s"Cannot move $from: $to exists")
    fileSystem.mkdirs(to.getParent)
    val isMoved =
      try fileSystem.rename(from, to)
      catch { case _: FileNotFoundException => CheckpointLogs.stillThere(from.toString, None) }
    if (!isMoved) throw new IOException(s"Cannot move $from to $to")
  }
}

package io.keyfold.spark.admin.rollback

import java.io.{FileNotFoundException, IOException}
import java.nio.charset.StandardCharsets.UTF_8
import java.util.Arrays

import io.keyfold.errors.Invalid
import io.keyfold.format.{FileKind, PlanName}
import io.keyfold.rescale.StorePlanner.{InTurn, Parallel}
import io.keyfold.spark.checkpoint.{CheckpointFiles, CheckpointLogs, FileSink}
import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{FileAlreadyExistsException, Path}

/** Moves files of a folder, a checkpoint or the output of a file sink, to one below it, under the
  * same relative paths, and back.
  *
  * Of a sink they are entries of its log: Spark does not run a batch that this has, whose output
  * would be missing, and its state too. The files that the batches have written stay where they
  * are. Spark's readers go by the log.
  *
  * @param home
  *   the folder in it that has all such folders
  * @param name
  *   of the folder that files are moved to
  * @param parallel
  *   lists and compares them
  */
private[spark] final class Aside private (
    location: String,
    home: String,
    name: String,
    conf: Configuration,
    parallel: Parallel
) {
  import Aside._

  private val root = new Path(location)
  private val folder = new Path(new Path(root, home), name)
  private val fileSystem = root.getFileSystem(conf)
  private lazy val here = new CheckpointFiles(location, conf)
  private lazy val away = new CheckpointFiles(folder.toString, conf)

  def exists: Boolean = fileSystem.exists(folder)

  def isRootThere: Boolean = fileSystem.exists(root)

  /** Remembers which file of the root the files here build on. */
  def buildOn(path: String): Unit =
    away.write(Base, CheckpointLogs.stillThere(s"$root/$path", here.read(path)))

  /** Whether the root has that file, as it was. */
  def buildsOn(path: String): Boolean =
    away.read(Base).forall(base => here.read(path).exists(Arrays.equals(base, _)))

  /** Notes the location of a file sink whose log is set aside too. */
  def noteSink(location: String): Unit = away.write(Sink, location.getBytes(UTF_8))

  /** That location. */
  def sink: Option[String] = away.read(Sink).map(new String(_, UTF_8))

  /** Sorted paths of the files in the folder, relative to the root. */
  lazy val files: Seq[String] = away.walk("", parallel).map(_.path).filterNot(Notes).sorted

  /** Those of [[files]] that are not back. On an object store a move is a copy and a deletion, and
    * may have been interrupted between them: then the root has the same file.
    */
  def left: Seq[String] =
    parallel(files)(path => Option.unless(isBack(path))(path)).flatten

  private def isBack(path: String) = canTake(path) &&
    here.read(path).exists(it => away.read(path).exists(Arrays.equals(it, _)))

  /** Whether the folder has the file. */
  def has(path: String): Boolean = fileSystem.exists(new Path(folder, path))

  /** Whether the root has the file. */
  def canTake(path: String): Boolean = fileSystem.exists(new Path(root, path))

  /** @return false if the file does not exist */
  def take(path: String): Boolean = canTake(path) && {
    move(new Path(root, path), new Path(folder, path))
    true
  }

  /** Copies a file of the root, which then changes there. */
  def copy(path: String): Unit = here.copy(path, away)

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
    try away.copy(path, here)
    catch {
      case _: FileAlreadyExistsException => throw overtaken(path)
      case _: FileNotFoundException      =>
        CheckpointLogs.stillThere(new Path(folder, path).toString, None)
    }

  /** Deletes a file in the folder. */
  def drop(path: String): Unit = away.delete(path)

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

private[spark] object Aside {

  /** The folder of a file sink's log. */
  val SinkLog = "_spark_metadata"

  /** Readers of files skip names that begin with an underscore. */
  private val SinkHome = "_keyfold"

  /** A copy of the file that the files in the folder build on. */
  private val Base = "base"

  /** Has the location of the file sink whose log was set aside too. */
  private val Sink = "sink"
  private val Notes = Set(Base, Sink)

  private[rollback] def ofCheckpoint(
      location: String,
      name: String,
      conf: Configuration,
      parallel: Parallel
  ) = new Aside(location, PlanName.Folder, name, conf, parallel)

  private[rollback] def ofSink(
      folder: String,
      name: String,
      conf: Configuration,
      parallel: Parallel = InTurn
  ) = new Aside(folder, SinkHome, name, conf, parallel)

  /** The folders that have the entries of batches, by the name of their rollback.
    *
    * @param sink
    *   the sink's folder
    */
  def holding(sink: String, batches: Seq[Long], conf: Configuration): Seq[(String, String)] =
    new CheckpointFiles(sink, conf)
      .folders(SinkHome)
      .filter { name =>
        val there = ofSink(sink, name, conf).files.map(FileSink.batchOf).toSet
        batches.forall(there)
      }
      .map(name => name -> s"${new Path(sink, SinkHome)}/$name/$SinkLog")
}

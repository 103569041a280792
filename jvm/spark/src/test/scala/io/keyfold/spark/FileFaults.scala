package io.keyfold.spark

import java.nio.file.NoSuchFileException
import java.util.UUID
import java.util.concurrent.ConcurrentLinkedQueue

import scala.collection.concurrent.TrieMap

import io.keyfold.testkit.{FaultPlan, FileCall}
import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path
import org.apache.spark.sql.keyfold.SparkShim

/** What becomes of the calls of the [[FaultyFileManager]]s that are set up with it.
  *
  * @param root
  *   folder that paths of calls are relative to
  */
final class FileFaults(root: String) {
  private val name = UUID.randomUUID.toString
  private val late = new ConcurrentLinkedQueue[SparkShim.CancellableStream]

  FileFaults.all(name) = this

  /** Calls are `mkdirs`, `create`, `write`, `close` and `rename` of a file being written, `open`
    * and `read`, `exists`, `list` and `delete`. In their paths ids are `*`.
    */
  val plan = new FaultPlan

  /** Makes Spark use them: of Hadoop's, or of a session. */
  val settings: Map[String, String] = Map(
    FileFaults.Key -> name,
    "spark.sql.streaming.checkpointFileManagerClass" -> classOf[FaultyFileManager].getName
  )

  /** What was closed late is closed now, by whoever was given up for dead. It fails there if a
    * cleanup has deleted its temporary file meanwhile.
    *
    * @return
    *   how many
    */
  def closeLate(): Int =
    Iterator.continually(late.poll()).takeWhile(_ != null).map(close).size

  private def close(stream: SparkShim.CancellableStream): Unit =
    try stream.close()
    catch { case _: NoSuchFileException => }

  private[spark] def putOff(stream: SparkShim.CancellableStream): Unit = {
    late.add(stream)
    ()
  }

  private[spark] def call(what: String, path: Path): FileCall = {
    val full = path.toUri.getPath
    val below = if (full.startsWith(root)) full.drop(root.length).dropWhile(_ == '/') else full
    val plain = FileFaults.Temporary.replaceAllIn(below, "$1.tmp")
    FileCall(what, FileFaults.Id.replaceAllIn(plain, "*"))
  }
}

object FileFaults {
  private val Key = "keyfold.test.faults"
  private val all = TrieMap.empty[String, FileFaults]
  private val Id = "[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}".r

  /** As Spark names what it is still writing. */
  private val Temporary = s"\\.([^/]*)\\.${Id.regex.replace("(", "(?:")}[^/]*\\.tmp".r

  def of(conf: Configuration): FileFaults = all(conf.get(Key))
}

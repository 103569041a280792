package io.keyfold.spark.checkpoint

import java.io.{FileNotFoundException, IOException}
import java.nio.charset.StandardCharsets.UTF_8
import java.util.{Collections, WeakHashMap}
import java.util.concurrent.atomic.AtomicReference

import scala.util.Random
import scala.util.control.NonFatal

import io.keyfold.io.Interrupts
import org.apache.hadoop.fs.{FSDataOutputStream, FileSystem, Path}
import org.slf4j.LoggerFactory

/** Creates objects by PUTs that a store refuses if the object exists.
  *
  * Each carries a token of its own: an answer may be lost, and the request that is sent again is
  * then refused because of the first. Equal bytes would not tell whose object it is.
  *
  * A client that can send the condition does not prove that the store honours it. So the first
  * object is sent twice: the second must be refused.
  */
private[checkpoint] final class ConditionalWrites private (
    fileSystem: FileSystem,
    honoured: AtomicReference[Option[Boolean]]
) {
  import ConditionalWrites._
  import FileManagers.existsAlready

  /** Whether the store has been seen to refuse. */
  def areHonoured: Boolean = honoured.get.contains(true)

  /** Whether the store has been seen to replace an object in spite of the condition. */
  def areIgnored: Boolean = honoured.get.contains(false)

  /** Creates an object.
    *
    * @param token
    *   of this object alone
    * @throws org.apache.hadoop.fs.FileAlreadyExistsException
    *   if it exists
    * @throws java.io.IOException
    *   if it could not be written; it may exist then
    */
  def create(path: Path, bytes: Array[Byte], token: String): Unit = {
    create(path, bytes, token, Attempts)
    if (honoured.get.isEmpty) prove(path, bytes, token)
  }

  private def create(path: Path, bytes: Array[Byte], token: String, attempts: Int): Unit = {
    val out = begin(path, token)
    out.write(bytes)
    try end(path, out, token)
    catch {
      case e: IOException if isConflict(e) && attempts > 1 =>
        Thread.sleep(Random.between(PauseMs, 2 * PauseMs))
        create(path, bytes, token, attempts - 1)
    }
  }

  /** Begins an object; [[end]] creates it.
    *
    * @throws org.apache.hadoop.fs.FileAlreadyExistsException
    *   if it exists and the store has not been seen to refuse
    */
  def begin(path: Path, token: String): FSDataOutputStream = {
    if (!areHonoured && fileSystem.exists(path) && !writerOf(path).contains(token)) {
      throw existsAlready(path, null)
    }
    put(path, token)
  }

  /** Creates the object that was begun. Throws as [[create]] does. */
  def end(path: Path, out: FSDataOutputStream, token: String): Unit =
    try out.close()
    catch {
      // Whatever is said of the last try: one before it, whose answer was lost, may have been done;
      // and a server that refuses may close the connection in the middle of a large object.
      case e: IOException if !Interrupts.isInterrupt(e) =>
        val writer =
          try writerOf(path)
          catch {
            case unanswered: IOException =>
              e.addSuppressed(unanswered)
              throw e
          }
        if (!writer.contains(token)) {
          throw if (isRefusal(e) || writer.nonEmpty) existsAlready(path, e) else e
        }
    }

  /** The same bytes and token again: it does no harm where the store ignores the condition. */
  private def prove(path: Path, bytes: Array[Byte], token: String): Unit =
    try {
      val out = put(path, token)
      out.write(bytes)
      out.close()
      honoured.set(Some(false))
      log.warn(
        "{} replaces objects in spite of If-None-Match. Two drivers that run one query there may " +
          "both go on; files are written as Spark writes them. Never start a query twice there, or " +
          "use a store that honours conditional writes.",
        fileSystem.getUri
      )
    } catch {
      case e if isRefusal(e)                           => honoured.set(Some(true))
      case e: IOException if Interrupts.isInterrupt(e) => throw e
      case NonFatal(e)                                 =>
        log.warn(s"Cannot find out whether ${fileSystem.getUri} honours conditional writes", e)
    }

  private def put(path: Path, token: String) = {
    val header = s"fs.s3a.create.header.$TokenHeader"
    ObjectFileManager.put(fileSystem, path, Capability -> "true", header -> token)
  }

  /** The token of an object, empty if it has none; None if there is no object. */
  private def writerOf(path: Path): Option[String] =
    try {
      val token = Option(fileSystem.getXAttr(path, s"header.$TokenHeader"))
      Some(token.fold("")(new String(_, UTF_8)))
    } catch { case _: FileNotFoundException => None }
}

private[checkpoint] object ConditionalWrites {
  private val log = LoggerFactory.getLogger(classOf[ConditionalWrites])

  /** The option of a file system that writes an object only if there is none. */
  val Capability = "fs.option.create.conditional.overwrite"

  private val TokenHeader = "keyfold-writer"
  private val Attempts = 10
  private val PauseMs = 50L

  private val known =
    Collections.synchronizedMap(new WeakHashMap[FileSystem, AtomicReference[Option[Boolean]]])

  /** None if the file system cannot send the condition. What is known of its store holds for all
    * that use it.
    */
  def of(fileSystem: FileSystem, path: Path): Option[ConditionalWrites] =
    Option.when(fileSystem.hasPathCapability(path, Capability)) {
      val honoured = known.computeIfAbsent(fileSystem, _ => new AtomicReference(None))
      new ConditionalWrites(fileSystem, honoured)
    }

  /** S3A's exception for status 412, by name: its jar is not there unless the user has it. */
  private def isRefusal(e: Throwable) = e.getClass.getSimpleName == "RemoteFileChangedException"

  /** Status 409: another request for the object is under way. */
  private def isConflict(e: Throwable) =
    e.getMessage != null &&
      (e.getMessage.contains("ConditionalRequestConflict") ||
        e.getMessage.contains("Status Code: 409"))
}

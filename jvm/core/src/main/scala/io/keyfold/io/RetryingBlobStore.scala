package io.keyfold.io

import java.io.{EOFException, FileNotFoundException, IOException, OutputStream}
import java.net.SocketTimeoutException
import java.nio.file.AccessDeniedException

import scala.annotation.tailrec

import org.slf4j.LoggerFactory

/** Retries an operation after an error that may be temporary, a few times with growing pauses.
  * Errors about the file (missing, too short, access denied) or the task (interrupted) are thrown
  * at once.
  *
  * A write's body may be called more than once. A write that failed may still have taken effect;
  * the next try replaces the file by the same bytes (G4).
  *
  * @param onTry
  *   called before each try of an operation with its number, above 1 for a retry
  * @param pause
  *   waits for this many milliseconds
  */
final class RetryingBlobStore(
    inner: BlobStore,
    onTry: Int => Unit,
    pause: Long => Unit = Thread.sleep(_)
) extends BlobStore {
  import RetryingBlobStore._

  override def write(path: String)(body: OutputStream => Unit): Long =
    retrying("write", path)(inner.write(path)(body))

  override def open(path: String): BlobReader =
    new RetryingReader(path, retrying("open", path)(inner.open(path)))

  override def open(path: String, listed: ListedFile): BlobReader =
    new RetryingReader(path, retrying("open", path)(inner.open(path, listed)))

  override def exists(path: String): Boolean = retrying("look for", path)(inner.exists(path))

  override def files(folder: String): Map[String, ListedFile] =
    retrying("list", folder)(inner.files(folder))

  override def delete(path: String): Unit = retrying("delete", path)(inner.delete(path))

  override def clientRetries(): Long = inner.clientRetries()

  override def describe(path: String): String = inner.describe(path)

  override def close(): Unit = inner.close()

  private def retrying[T](what: String, path: String)(operation: => T): T = {
    @tailrec
    def attempt(number: Int): T = {
      onTry(number)
      val result =
        try Right(operation)
        catch { case e: IOException if number < Attempts && isTransient(e) => Left(e) }
      result match {
        case Right(value) => value
        case Left(e)      =>
          val ms = FirstPauseMs << (2 * (number - 1))
          log.warn(s"Cannot $what ${describe(path)}, retrying in $ms ms: $e")
          pause(ms)
          attempt(number + 1)
      }
    }
    attempt(1)
  }

  /** Reopens the file for a retry, since a stream that has failed may be unusable. */
  private final class RetryingReader(path: String, first: BlobReader) extends BlobReader {
    private var reader = first
    private var failed = false
    override val length: Long = first.length

    override def read(position: Long, count: Int): Array[Byte] = retrying("read", path) {
      if (failed) {
        reader.close()
        reader = inner.open(path)
        failed = false
      }
      try reader.read(position, count)
      catch {
        case e: IOException =>
          failed = true
          throw e
      }
    }

    override def close(): Unit = reader.close()
  }
}

object RetryingBlobStore {
  private val log = LoggerFactory.getLogger(classOf[RetryingBlobStore])

  /** Total number of tries, with pauses of 100 and 400 ms between them. */
  val Attempts = 3
  private val FirstPauseMs = 100L

  private def isTransient(e: IOException): Boolean = e match {
    case _: SocketTimeoutException                                             => true
    case _: FileNotFoundException | _: EOFException | _: AccessDeniedException => false
    case _ => !Interrupts.isInterrupt(e) && !Thread.currentThread.isInterrupted
  }
}

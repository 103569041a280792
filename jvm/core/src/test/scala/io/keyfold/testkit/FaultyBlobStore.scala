package io.keyfold.testkit

import java.io.{FileNotFoundException, OutputStream}

import io.keyfold.io.{BlobReader, BlobStore, ListedFile}

/** A store whose operations fail, or wait, where a test says so; it keeps its guarantees then. */
final class FaultyBlobStore(inner: BlobStore) extends ForwardingBlobStore(inner) {
  import Failure._

  /** Calls are `write`, `open`, `read`, `close` (of a reader), `exists`, `list` and `delete`. */
  val plan = new FaultPlan

  /** Writes of a path for which this holds fail half way; nothing becomes visible. */
  @volatile var failWrite: String => Boolean = _ => false

  override def write(path: String)(body: OutputStream => Unit): Long = {
    val call = FileCall("write", path)
    plan.ask(call) match {
      case None if !failWrite(path) =>
        val length = inner.write(path)(body)
        plan.wrote(call, length.toInt)
        length
      case None                => inner.write(path)(breakOff(body, Int.MaxValue, call))
      case Some(Within(bytes)) => inner.write(path)(breakOff(body, bytes, call))
      case Some(how)           =>
        if (how == After) inner.write(path)(body)
        throw error(call)
    }
  }

  override def open(path: String): BlobReader = {
    val call = FileCall("open", path)
    plan.ask(call) match {
      case Some(Unseen) => throw new FileNotFoundException(path)
      case Some(_)      => throw error(call)
      case None         => new Reader(inner.open(path), path)
    }
  }

  override def exists(path: String): Boolean =
    asked("exists", path, unseen = false)(inner.exists(path))

  override def files(folder: String): Map[String, ListedFile] =
    asked("list", folder, unseen = Map.empty[String, ListedFile])(inner.files(folder))

  override def delete(path: String): Unit = asked("delete", path, unseen = ())(inner.delete(path))

  private def asked[T](what: String, path: String, unseen: T)(does: => T): T = {
    val call = FileCall(what, path)
    plan.ask(call) match {
      case None         => does
      case Some(Unseen) => unseen
      case Some(how)    =>
        if (how == After) does
        throw error(call)
    }
  }

  /** Hands the first bytes on and then fails: within `body`, or at its end. */
  private def breakOff(body: OutputStream => Unit, bytes: Int, call: FileCall)(
      out: OutputStream
  ): Unit = {
    body(new OutputStream {
      private var left = bytes
      override def write(b: Int): Unit = write(Array(b.toByte), 0, 1)
      override def write(b: Array[Byte], from: Int, count: Int): Unit = {
        val taken = math.min(count, left)
        out.write(b, from, taken)
        left -= taken
        if (taken < count) throw error(call)
      }
    })
    throw error(call)
  }

  private final class Reader(inner: BlobReader, path: String) extends ForwardingBlobReader(inner) {
    override def read(position: Long, count: Int): Array[Byte] =
      asked("read", s"$path from $position", unseen = Array.emptyByteArray) {
        inner.read(position, count)
      }

    override def close(): Unit = asked("close", path, unseen = ())(inner.close())
  }
}

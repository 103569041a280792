package io.keyfold.testkit

import java.io.OutputStream

import io.keyfold.io.{BlobReader, BlobStore}

/** Files whose writing can be held in the middle. Threads: any number at once. */
final class HeldBlobStore(inner: BlobStore) extends BlobStore {
  @volatile private var held: Option[(String, Int, Gate)] = None

  /** The next write of a path that ends so waits at the gate before its `nth` piece, from 1; the
    * pieces of a file are its header, each block, and its footer.
    */
  def hold(ending: String, nth: Int): Gate = {
    val gate = new Gate
    held = Some((ending, nth, gate))
    gate
  }

  override def write(path: String)(body: OutputStream => Unit): Long =
    held.filter { case (ending, _, _) => path.endsWith(ending) } match {
      case None                 => inner.write(path)(body)
      case Some((_, nth, gate)) =>
        held = None
        inner.write(path)(out => body(holding(out, nth, gate)))
    }

  override def open(path: String): BlobReader = inner.open(path)
  override def exists(path: String): Boolean = inner.exists(path)
  override def lengths(folder: String): Map[String, Long] = inner.lengths(folder)
  override def delete(path: String): Unit = inner.delete(path)
  override def describe(path: String): String = inner.describe(path)
  override def close(): Unit = inner.close()

  private def holding(out: OutputStream, nth: Int, gate: Gate) = new OutputStream {
    private var pieces = 0
    override def write(b: Int): Unit = write(Array(b.toByte), 0, 1)
    override def write(b: Array[Byte], from: Int, count: Int): Unit = {
      pieces += 1
      if (pieces == nth) gate.pass()
      out.write(b, from, count)
    }
  }
}

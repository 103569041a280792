package io.keyfold.testkit

import java.io.OutputStream

import io.keyfold.io.BlobStore

/** Files whose writing can be held in the middle. Threads: any number at once. */
final class HeldBlobStore(inner: BlobStore) extends ForwardingBlobStore(inner) {
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

package io.keyfold.store.load

import java.util.concurrent.CompletableFuture

import scala.collection.mutable

import io.keyfold.format.FileReader
import io.keyfold.io.IdleThreads

/** Opens files side by side before they are needed, a few at a time, and hands them out in order.
  * Most deltas are small and then read already, so a load waits for one request instead of one for
  * each delta.
  *
  * Belongs to one thread.
  *
  * @param opens
  *   opens a file each, in any thread
  */
private[load] final class OpenedAhead(opens: Seq[() => FileReader]) extends AutoCloseable {
  import OpenedAhead._

  private val left = opens.iterator
  private val pending = mutable.Queue.empty[CompletableFuture[FileReader]]
  @volatile private var closed = false

  /** The next file, which the caller closes. Throws what opening it threw. */
  def next(): FileReader =
    if (opens.size == 1) left.next()()
    else {
      while (pending.size < Width && left.hasNext) {
        val open = left.next()
        val opened = CompletableFuture.supplyAsync(() => if (closed) null else open(), Threads)
        pending.enqueue(opened)
      }
      val file = IdleThreads.resultOf(pending.head)
      pending.dequeue()
      file
    }

  /** Closes the files that were not handed out, also those that are being opened. */
  override def close(): Unit = {
    closed = true
    pending.foreach(_.whenComplete((file, _) => if (file != null) file.close()))
  }
}

private object OpenedAhead {

  /** Files of one load that are open or being opened. */
  val Width = 8

  /** For all loads of the JVM. */
  private val Threads = IdleThreads("keyfold-open", 16)
}

package io.keyfold.store.load

import java.util.concurrent.{Callable, Future}

import io.keyfold.format.{BlockEntries, FileReader}
import io.keyfold.io.IdleThreads

/** Reads blocks of a file one after the other. While the load puts the rows of some, another thread
  * fetches, decompresses and checks the next.
  *
  * Belongs to one thread.
  *
  * @param blocks
  *   which, ascending
  */
private[load] final class BlocksAhead(file: FileReader, blocks: Array[Int]) extends AutoCloseable {
  import BlocksAhead._

  /** Blocks that were read and not taken, and those that are read meanwhile. */
  private var ready = Iterator.empty[BlockEntries]
  private var ahead: Future[Seq[BlockEntries]] = _
  private var asked = 0

  /** The next block. Throws what reading it threw. */
  def next(): BlockEntries = {
    if (!ready.hasNext) {
      ready =
        if (ahead == null) file.blocks(following(1)).iterator
        else IdleThreads.resultOf(ahead).iterator
      ahead = if (asked < blocks.length) readLater(following(AtOnce)) else null
    }
    ready.next()
  }

  /** The next blocks that have so many raw bytes, or one more. */
  private def following(bytes: Int): Seq[Int] = {
    val from = asked
    var sum = 0L
    while (asked < blocks.length && sum < bytes) {
      sum += file.footer.blocks(blocks(asked)).rawLength
      asked += 1
    }
    blocks.slice(from, asked).toSeq
  }

  private def readLater(blocks: Seq[Int]) = submit(() => file.blocks(blocks))

  /** Interrupts a read. */
  override def close(): Unit = if (ahead != null) {
    ahead.cancel(true)
    ()
  }
}

private[load] object BlocksAhead {

  /** Raw bytes: of some blocks, so that a thread is not woken for each. */
  private val AtOnce = 1 << 20

  def submit[T](read: Callable[T]): Future[T] = Threads.submit(read)

  /** For all loads of the JVM, each of which needs one. */
  private val Threads = IdleThreads.unlimited("keyfold-load")
}

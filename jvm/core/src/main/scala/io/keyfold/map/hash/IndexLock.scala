package io.keyfold.map.hash

import java.util.concurrent.atomic.AtomicBoolean
import java.util.concurrent.locks.LockSupport

/** Guards the hash tables of a map and the links of their records: who may write to the arena holds
  * it for each change, and every other thread for each look-up and each leaf of a scan. It spins,
  * then sleeps, and a thread that has it must not ask for it again.
  */
private[map] final class IndexLock {
  import IndexLock._

  private val taken = new AtomicBoolean

  def lock(): Unit = if (!taken.compareAndSet(false, true)) spin()

  def unlock(): Unit = taken.setRelease(false)

  private def spin(): Unit = {
    var tries = 0
    while (taken.getOpaque || !taken.compareAndSet(false, true)) {
      tries += 1
      // Its holder may wait for a processor, or for memory.
      if (tries < Spins) Thread.onSpinWait() else pause()
    }
  }

  private def pause(): Unit =
    if (Thread.currentThread.isInterrupted) Thread.`yield`() else LockSupport.parkNanos(PauseNanos)
}

private object IndexLock {
  private val Spins = 1000
  private val PauseNanos = 50000L
}

package io.keyfold.map.hash

import java.util.concurrent.atomic.AtomicBoolean
import java.util.concurrent.locks.LockSupport

/** Guards the hash tables of a map and the links of their records, for some hundred nanoseconds at
  * a time: who may write to the arena holds it to change them, and every other thread to read them.
  * It spins, then sleeps, and a thread that has it must not ask for it again.
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
      if (tries < Spins) Thread.onSpinWait() else LockSupport.parkNanos(PauseNanos)
    }
  }
}

private object IndexLock {
  private val Spins = 1000
  private val PauseNanos = 50000L
}

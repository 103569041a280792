package io.keyfold.io

import java.io.{IOException, InterruptedIOException}
import java.net.SocketTimeoutException
import java.nio.channels.ClosedByInterruptException

/** Errors of I/O that say that the thread was interrupted. */
object Interrupts {

  /** A timeout is of the same class, and says nothing of the thread. */
  def isInterrupt(e: IOException): Boolean = e match {
    case _: SocketTimeoutException                                 => false
    case _: InterruptedIOException | _: ClosedByInterruptException => true
    case _                                                         => false
  }

  /** Whether it, or what it comes from, is one. Timeouts of other clients count too: for those who
    * can leave what they do for later.
    */
  def mayBeInterrupt(e: Throwable): Boolean =
    Iterator.iterate(e)(_.getCause).takeWhile(_ != null).take(MostCauses).exists {
      case cause: IOException => isInterrupt(cause)
      case _                  => false
    }

  /** Causes may go round in a circle. */
  private val MostCauses = 20
}

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
}

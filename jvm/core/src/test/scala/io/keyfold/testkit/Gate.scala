package io.keyfold.testkit

import java.util.concurrent.{CountDownLatch, TimeUnit, TimeoutException}

/** A point at which a thread waits until a test lets it go on, so that a race is a written sequence
  * of phases. A wait that does not end is an error after 30 s.
  */
final class Gate {
  private val arrived = new CountDownLatch(1)
  private val opened = new CountDownLatch(1)

  /** Called by the thread that is to wait. */
  def pass(): Unit = {
    arrived.countDown()
    Gate.await(opened, "to be let through")
  }

  /** Waits until a thread is here. */
  def awaitArrival(): Unit = Gate.await(arrived, "for a thread to arrive")

  /** Lets the thread go on, now or when it comes. */
  def open(): Unit = opened.countDown()
}

object Gate {
  private val Seconds = 30L

  private def await(latch: CountDownLatch, what: String): Unit =
    if (!latch.await(Seconds, TimeUnit.SECONDS)) {
      throw new TimeoutException(s"Waited $Seconds s $what")
    }
}

/** Something that runs in a thread of its own. */
final class Running[T](body: => T) {
  @volatile private var outcome: Option[Either[Throwable, T]] = None
  private val thread = new Thread(() =>
    outcome = Some(
      try Right(body)
      catch { case e: Throwable => Left(e) }
    )
  )
  thread.setDaemon(true)
  thread.start()

  def isDone: Boolean = outcome.nonEmpty

  /** Waits until it stands before a lock that another thread holds, or has ended. */
  def awaitBlocked(): Unit = while (thread.isAlive && !isBlocked) Thread.onSpinWait()

  private def isBlocked = thread.getState match {
    case Thread.State.BLOCKED | Thread.State.WAITING => true
    case _                                           => false
  }

  /** Asks it to stop, as Spark does when it kills a task. */
  def interrupt(): Unit = thread.interrupt()

  /** Waits for the end; throws what the body threw. */
  def result(): T = {
    thread.join(TimeUnit.SECONDS.toMillis(30))
    outcome.getOrElse(throw new TimeoutException("Still running after 30 s")) match {
      case Right(value) => value
      case Left(e)      => throw e
    }
  }
}

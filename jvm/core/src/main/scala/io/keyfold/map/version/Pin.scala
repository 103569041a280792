package io.keyfold.map.version

import java.lang.ref.Cleaner
import java.util.concurrent.atomic.AtomicBoolean

/** Keeps a node's rows in memory until it is released. If its view is dropped without a release, as
  * may happen outside of tasks, garbage collection releases it.
  */
private[map] final class Pin(onRelease: () => Unit) extends Runnable {
  private val released = new AtomicBoolean

  /** Does nothing when repeated. */
  override def run(): Unit = if (released.compareAndSet(false, true)) onRelease()
}

private[map] object Pin {
  private val cleaner = Cleaner.create()

  /** @param onRelease
    *   must not refer to `view`
    */
  def of(view: AnyRef)(onRelease: => Unit): Pin = {
    val pin = new Pin(() => onRelease)
    cleaner.register(view, pin)
    pin
  }
}

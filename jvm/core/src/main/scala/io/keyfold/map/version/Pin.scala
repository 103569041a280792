package io.keyfold.map.version

import java.lang.ref.Cleaner

/** Keeps a node's rows in memory until it is released. If its view is dropped without a release, as
  * may happen outside of tasks, garbage collection releases it.
  */
private[map] object Pin {
  private val cleaner = Cleaner.create()

  /** @param onRelease
    *   must not refer to `view`
    * @return
    *   releases it; does nothing when repeated
    */
  def of(view: AnyRef)(onRelease: => Unit): Cleaner.Cleanable =
    cleaner.register(view, () => onRelease)
}

package io.keyfold.spark

import io.keyfold.testkit.Gate

/** The work of Keyfold's background thread, for tests. */
object InBackground {

  /** Waits until it has done what it was given so far. */
  def await(): Unit = hold().open()

  /** Holds it back, once it has done what it was given so far. */
  def hold(): Gate = {
    val gate = new Gate
    KeyfoldStateStoreProvider.Background.execute(() => gate.pass())
    gate.awaitArrival()
    gate
  }
}

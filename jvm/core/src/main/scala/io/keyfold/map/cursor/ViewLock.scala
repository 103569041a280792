package io.keyfold.map.cursor

import io.keyfold.errors.OutOfOrder
import io.keyfold.map.MapView
import io.keyfold.mem.Slice

/** Who may be inside a view: one thread at a time, and nobody once it is released.
  *
  * It is biased towards the thread that made the view, which takes no lock and passes no fence
  * until another thread has come; then all do, the first one too. What others are given is copied
  * to the heap: they may go on reading it when the view is released, as do the threads that Spark
  * runs for Python, which nobody waits for.
  *
  * A thread must have been handed the view before its first call. To release or abort it takes no
  * such order: that waits for the call that is inside. Only of the first thread, while the view is
  * its alone, it cannot be known from outside whether it is inside; nothing is freed then before
  * that thread comes again or ends, or the view is collected.
  *
  * @param view
  *   kept for the cursors, which have its lock: a view that nobody has is collected, and its rows
  *   with it
  */
private[map] final class ViewLock(val view: MapView) {
  private val first = Thread.currentThread

  /** Whether only the first thread has come, and the view is not released. Written under the lock,
    * read by the first thread without it.
    */
  private var biased = true

  // Guarded by this.
  private var released = false
  private var unsure = false

  /** Whether the caller needs no lock. */
  def isMine: Boolean = biased && isFirst

  /** Runs a call of a thread that needs the lock.
    *
    * @throws io.keyfold.errors.OutOfOrder
    *   if the view was released
    */
  def locked[T](call: => T): T = synchronized {
    biased = false
    if (released) {
      throw new OutOfOrder(
        "Cannot use this version of the state any more: it was released, since its task has ended"
      )
    }
    call
  }

  /** Lets go of something that calls need, when no call is inside; leaves it for the view's release
    * if that is not certain, or has been.
    */
  def ifQuiet(letGo: => Unit): Unit = synchronized {
    if (!released && isQuiet) letGo
  }

  /** Keeps bytes for a thread that is not the first.
    *
    * @return
    *   true
    */
  def detach(bytes: Slice): Boolean = {
    if (!isFirst) bytes.set(bytes.toArray)
    true
  }

  /** Ends what calls rely on, when no call is inside.
    *
    * @param how
    *   told whether that is certain; if not, the view counts as released
    */
  def end(how: Boolean => Unit): Unit = synchronized {
    val quiet = isQuiet
    if (!quiet) {
      unsure = true
      shut()
    }
    how(quiet)
  }

  /** Lets nobody in any more; to be called within [[end]]. */
  def shut(): Unit = {
    biased = false
    released = true
  }

  /** Whether it is certain that no other thread is inside. */
  private def isQuiet = isFirst || !first.isAlive || !(biased || unsure)

  private def isFirst = Thread.currentThread eq first
}

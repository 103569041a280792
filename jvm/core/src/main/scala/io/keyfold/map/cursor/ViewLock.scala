package io.keyfold.map.cursor

import io.keyfold.errors.OutOfOrder
import io.keyfold.map.MapView
import io.keyfold.mem.Slice

/** Lets one thread at a time into a view, and none once it is released.
  *
  * It is biased towards the thread that made the view, which takes no lock and passes no fence
  * until a second thread comes; then all threads lock. Slices for other threads are copied to the
  * heap: such threads may read on after the view is released, as do those that Spark runs for
  * Python and does not join.
  *
  * A thread must have been handed the view safely before its first call. Release and abort need no
  * such hand-over: they wait for the call that is inside. But while the view is still biased, other
  * threads cannot know whether the first thread is inside; then nothing is freed before that thread
  * calls again or ends, or the view is collected.
  *
  * @param view
  *   referenced for the cursors, which have this lock: only an unreachable view is collected with
  *   its rows
  * @param first
  *   the thread towards which it is biased; null: none
  */
private[map] final class ViewLock(val view: MapView, first: Thread) {

  /** Whether only the first thread has come and the view is not released. Written under the lock,
    * read by the first thread without it.
    */
  private var biased = first != null

  // Guarded by this.
  private var released = false
  private var unsure = false

  /** Whether the caller needs no lock. */
  def isMine: Boolean = biased && isFirst

  /** Runs a call, with the lock if the caller needs it. Calls for single rows look themselves, and
    * so make no closure.
    */
  def entered[T](call: => T): T = if (isMine) call else locked(call)

  /** Runs a call of a thread that needs the lock.
    *
    * @throws io.keyfold.errors.OutOfOrder
    *   if the view was released or given up
    */
  def locked[T](call: => T): T = synchronized {
    biased = false
    if (released) {
      throw new OutOfOrder(
        "Cannot use this version of the state any more: it was released, since its task has ended, " +
          "or a change of it failed half way"
      )
    }
    call
  }

  /** Runs a call of the first thread for another view, unless this one is released. */
  def lockedIfFirst(call: => Unit): Unit = synchronized {
    if (!released && isFirst) call
  }

  /** Runs `letGo` if certainly no call is inside. Otherwise, or after the release, leaves it to the
    * release of the view.
    */
  def ifQuiet(letGo: => Unit): Unit = synchronized {
    if (!released && isQuiet) letGo
  }

  /** Copies bytes to the heap for any thread but the first.
    *
    * @return
    *   true
    */
  def detach(bytes: Slice): Boolean = {
    if (!isFirst && bytes.base == null) bytes.set(bytes.toArray)
    true
  }

  /** Ends the view or its transaction when no call is inside.
    *
    * @param how
    *   called with whether that is certain; if not, the view counts as released
    */
  def end(how: Boolean => Unit): Unit = synchronized {
    val quiet = isQuiet
    if (!quiet) {
      unsure = true
      shut()
    }
    how(quiet)
  }

  /** Refuses all further calls; must be called within [[end]]. */
  def shut(): Unit = {
    biased = false
    released = true
  }

  /** Whether certainly no other thread is inside. */
  private def isQuiet =
    isFirst || first == null || !first.isAlive || !(biased || unsure)

  private def isFirst = Thread.currentThread eq first
}

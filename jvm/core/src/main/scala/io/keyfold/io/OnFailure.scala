package io.keyfold.io

/** Gives back what was taken if the code that was to use it fails. */
object OnFailure {

  /** @param release
    *   runs only if `body` throws anything, which is thrown again
    */
  def apply[T](release: => Unit)(body: => T): T =
    try body
    catch {
      case e: Throwable =>
        release
        throw e
    }
}

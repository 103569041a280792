package io.keyfold.map.cursor

import io.keyfold.map.version.OpenCursor

/** What a cursor asks of the transaction whose rows it goes over. */
private[map] trait PagePins {

  /** The record's bytes stay until the transaction is released: a caller has them. */
  def markEscaped(record: Int): Unit

  /** Index pages stay as they are now until [[unpinPages]]. */
  def pinPages(): OpenCursor

  def unpinPages(cursor: OpenCursor): Unit
}

package io.keyfold.map.cursor

import io.keyfold.map.version.OpenCursor

/** Implemented by the transaction whose rows a cursor reads. */
private[map] trait PagePins {

  /** Keeps the record's bytes until the transaction is released: a caller has them. */
  def markEscaped(record: Int): Unit

  /** Keeps index pages unchanged until [[unpinPages]]. */
  def pinPages(): OpenCursor

  def unpinPages(cursor: OpenCursor): Unit
}

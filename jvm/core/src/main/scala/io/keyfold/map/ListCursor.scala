package io.keyfold.map

import io.keyfold.mem.Slice

/** Steps through records put, then through those removed; from the beginning again after [[reset]].
  *
  * @param owner
  *   the view that keeps the records
  */
private[map] final class ListCursor(
    records: Records,
    val put: IntList,
    val gone: IntList,
    val owner: MapView
) extends ChangeCursor {
  private var index = -1
  override val key = new Slice
  override val value = new Slice

  /** Forgets what it has, so that `put` and `gone` can be filled anew. */
  def reset(): Unit = {
    index = -1
    put.clear()
    gone.clear()
  }

  override def removed: Boolean = index >= put.size
  override def hash: Int = records.hash(current)

  override def next(): Boolean = {
    index += 1
    index < put.size + gone.size && {
      records.key(current, key)
      if (!removed) records.value(current, value)
      true
    }
  }

  private def current = if (removed) gone(index - put.size) else put(index)
}

package io.keyfold.mem

/** Memory that an arena holds, in bytes.
  *
  * @param offHeap
  *   of pages in main memory
  * @param mapped
  *   of pages in files, since the budget was used up when they were taken
  * @param free
  *   of both, without an object
  */
final case class MemoryUse(offHeap: Long, mapped: Long, free: Long) {
  def total: Long = offHeap + mapped
}

object MemoryUse {
  val None: MemoryUse = MemoryUse(0, 0, 0)
}

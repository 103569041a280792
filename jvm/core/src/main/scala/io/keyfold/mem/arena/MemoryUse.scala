package io.keyfold.mem.arena

/** Memory that an arena holds, in bytes.
  *
  * @param offHeap
  *   of pages in main memory
  * @param mapped
  *   of pages in files, taken when the budget was used up
  * @param free
  *   of both, without an object
  */
final case class MemoryUse(offHeap: Long, mapped: Long, free: Long) {
  def total: Long = offHeap + mapped

  def +(other: MemoryUse): MemoryUse =
    MemoryUse(offHeap + other.offHeap, mapped + other.mapped, free + other.free)
}

object MemoryUse {
  val None: MemoryUse = MemoryUse(0, 0, 0)
}

package io.keyfold.mem.arena

import java.util.concurrent.ConcurrentHashMap

import io.keyfold.mem.Mem

/** The checks that [[Mem.Checks]] adds to an arena: tracks live handles, and fills memory with
  * patterns that reveal the use of uninitialised or freed objects. Threads: any.
  */
private[mem] final class ArenaChecks {
  private val handles = ConcurrentHashMap.newKeySet[Integer]

  def allocated(handle: Int, address: Long, bytes: Int): Unit = {
    if (!handles.add(handle)) throw new IllegalStateException(s"${name(handle)} is live already")
    Mem.fill(address, bytes.toLong, ArenaChecks.Fresh)
  }

  def freed(handle: Int, address: Long, bytes: Int): Unit = {
    handles.remove(handle)
    Mem.fill(address, bytes.toLong, ArenaChecks.Freed)
  }

  /** @throws java.lang.IllegalStateException if the handle has no live object */
  def live(handle: Int): Unit =
    if (!handles.contains(handle)) {
      throw new IllegalStateException(s"${name(handle)} is no live object: freed, or never there")
    }

  /** Checks that a free object was not written to, except for the link in its first four bytes.
    *
    * @throws java.lang.IllegalStateException
    *   if it was
    */
  def untouched(handle: Int, address: Long, bytes: Int): Unit = {
    // All bytes are equal if each equals the next.
    val isSame = Mem.equal(null, address + 4, null, address + 5, bytes - 5)
    if (!isSame || Mem.getByte(null, address + 4) != ArenaChecks.Freed) {
      val at = (4 until bytes).find(i => Mem.getByte(null, address + i) != ArenaChecks.Freed).get
      throw new IllegalStateException(
        s"${name(handle)} was written to at byte $at after it was freed"
      )
    }
  }

  def clear(): Unit = handles.clear()

  private def name(handle: Int): String = f"Handle 0x$handle%08x"
}

private[mem] object ArenaChecks {
  val Fresh: Byte = 0xa5.toByte
  val Freed: Byte = 0xde.toByte
}

package io.keyfold.map.cold

/** What the task of a transaction has found in runs, so that a put of a key that was looked up
  * before need not read the row again to count it: the bytes of its value, by a hash of its key of
  * 64 bits. Two keys of one hash would make a family's counts wrong by a row, with a chance of
  * 10^-9^ for a batch of 100,000 rows; nothing else depends on it.
  *
  * A table of 24 to 48 bytes for each row, at most 25 MB; what does not fit is forgotten. Only the
  * thread that began the transaction uses it.
  */
private[map] final class FoundRows {
  import FoundRows._

  private val thread = Thread.currentThread
  private var hashes = Array.emptyLongArray
  private var bytes = Array.emptyIntArray
  private var count = 0
  private var closed = false

  def isMine: Boolean = !closed && (Thread.currentThread eq thread)

  /** @param family
    *   its number
    * @param hash
    *   of the key
    */
  def add(family: Int, hash: Long, valueBytes: Int): Unit = {
    if (count * 2 >= hashes.length && hashes.length < MostSlots) grow()
    if (put(hash ^ mix(family), valueBytes)) count += 1
  }

  /** Bytes of the value of a key's row, or -1. */
  def valueBytes(family: Int, hash: Long): Int =
    if (hashes.length == 0 || !isMine) -1
    else {
      val at = slotOf(hash ^ mix(family))
      if (bytes(at) >= 0 && hashes(at) == (hash ^ mix(family))) bytes(at) else -1
    }

  private def mix(family: Int) = family * 0x9e3779b97f4a7c15L

  /** Forgets all, for good: the transaction's own rows are in runs too. */
  def close(): Unit = {
    closed = true
    hashes = Array.emptyLongArray
    bytes = Array.emptyIntArray
    count = 0
  }

  /** @return whether it takes a slot more */
  private def put(hash: Long, valueBytes: Int): Boolean = {
    val at = slotOf(hash)
    val isNew = bytes(at) < 0
    hashes(at) = hash
    bytes(at) = valueBytes
    isNew
  }

  /** The slot that has the hash, or is free for it, or is taken from another. */
  private def slotOf(hash: Long): Int = {
    val mask = hashes.length - 1
    var i = 0
    while (
      i < Probes && bytes(hash.toInt + i & mask) >= 0 && hashes(hash.toInt + i & mask) != hash
    ) {
      i += 1
    }
    hash.toInt + i & mask
  }

  private def grow(): Unit = {
    val (oldHashes, oldBytes) = (hashes, bytes)
    val slots = math.max(1024, oldHashes.length * 2)
    hashes = new Array[Long](slots)
    bytes = Array.fill(slots)(-1)
    for (i <- oldHashes.indices if oldBytes(i) >= 0) put(oldHashes(i), oldBytes(i))
  }
}

private object FoundRows {
  private val MostSlots = 1 << 21
  private val Probes = 8
}

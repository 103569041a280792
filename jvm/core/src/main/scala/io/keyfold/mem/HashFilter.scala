package io.keyfold.mem

/** Whether a hash is one of some: a Bloom filter of four bits in one word, so that a look-up reads
  * one word, after Putze, Sanders and Singler, "Cache-, Hash- and Space-Efficient Bloom Filters".
  * Some 1.5 % of other hashes pass. It is where the caller has put it, all 0 at first, and has as
  * many bytes as [[bytesFor]] says.
  */
object HashFilter {
  private val HashesOfWord = 6

  /** @return
    *   bytes, 10.7 bits for each hash
    */
  def bytesFor(hashes: Int): Int = (hashes / HashesOfWord + 1) * java.lang.Long.BYTES

  def add(base: AnyRef, at: Long, bytes: Int, hash: Int): Unit = {
    val mixed = mix(hash)
    val word = at + wordOf(mixed, bytes)
    Mem.putLong(base, word, Mem.getLong(base, word) | bitsOf(mixed))
  }

  def mayHave(base: AnyRef, at: Long, bytes: Int, hash: Int): Boolean = {
    val mixed = mix(hash)
    val bits = bitsOf(mixed)
    (Mem.getLong(base, at + wordOf(mixed, bytes)) & bits) == bits
  }

  /** A filter on the heap. */
  def of(hashes: Array[Int]): Array[Byte] = {
    val filter = new Array[Byte](bytesFor(hashes.length))
    var i = 0
    while (i < hashes.length) {
      add(filter, Mem.ArrayOffset, filter.length, hashes(i))
      i += 1
    }
    filter
  }

  def mayHave(filter: Array[Byte], hash: Int): Boolean =
    mayHave(filter, Mem.ArrayOffset, filter.length, hash)

  /** The upper half chooses the word. */
  private def wordOf(mixed: Long, bytes: Int): Long =
    ((mixed >>> 32) * (bytes / java.lang.Long.BYTES) >>> 32) * java.lang.Long.BYTES

  /** The lower bits choose those of the word: a shift takes six of them. */
  private def bitsOf(mixed: Long): Long =
    1L << mixed | 1L << (mixed >>> 6) | 1L << (mixed >>> 12) | 1L << (mixed >>> 18)

  private def mix(hash: Int): Long = {
    val z = (hash & 0xffffffffL) * 0x9e3779b97f4a7c15L
    z ^ z >>> 32
  }
}

package io.keyfold.mem

/** Whether a hash is one of some: a Bloom filter of three bits in one word, on the heap, that is
  * quick to make, also by code that has just begun to run. Some 2 % of other hashes pass.
  *
  * @param words
  *   some 11 bits for each hash
  */
final class HashFilter private (words: Array[Long]) {
  import HashFilter._

  def mayHave(hash: Int): Boolean = {
    val mixed = mix(hash)
    val bits = bitsOf(mixed)
    (words(wordOf(mixed, words.length)) & bits) == bits
  }
}

object HashFilter {
  private val HashesOfWord = 6

  def of(hashes: Array[Int]): HashFilter = {
    val words = new Array[Long](hashes.length / HashesOfWord + 1)
    var i = 0
    while (i < hashes.length) {
      val mixed = mix(hashes(i))
      words(wordOf(mixed, words.length)) |= bitsOf(mixed)
      i += 1
    }
    new HashFilter(words)
  }

  /** By the upper half. */
  private def wordOf(mixed: Long, count: Int): Int = ((mixed >>> 32) * count >>> 32).toInt

  /** By the lower bits: a shift takes six. */
  private def bitsOf(mixed: Long): Long = 1L << mixed | 1L << (mixed >>> 6) | 1L << (mixed >>> 12)

  private def mix(hash: Int): Long = {
    val z = (hash & 0xffffffffL) * 0x9e3779b97f4a7c15L
    z ^ z >>> 32
  }
}

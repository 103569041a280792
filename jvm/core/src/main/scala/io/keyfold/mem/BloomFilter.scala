package io.keyfold.mem

/** Whether a hash is one of those that were added: a Bloom filter of five bits in one line of 64
  * bytes, after Putze, Sanders and Singler, "Cache-, Hash- and Space-Efficient Bloom Filters". With
  * [[linesFor]] some 1 % of the hashes that were not added pass.
  *
  * Its lines begin at an address relative to an object, as those of a [[Slice]]; all bytes are 0 at
  * first.
  */
object BloomFilter {
  val LineBytes = 64

  /** Rows of a line: 10 bits for each. */
  private val RowsOfLine = 51

  def linesFor(rows: Int): Int = rows / RowsOfLine + 1

  /** One on the heap, of so many hashes. */
  def of(hashes: Array[Int]): Array[Byte] = {
    val lines = linesFor(hashes.length)
    val filter = new Array[Byte](lines * LineBytes)
    var i = 0
    while (i < hashes.length) {
      add(filter, Mem.ArrayOffset, lines, hashes(i))
      i += 1
    }
    filter
  }

  def mayHave(filter: Array[Byte], hash: Int): Boolean =
    mayHave(filter, Mem.ArrayOffset, filter.length / LineBytes, hash)

  def mayHave(base: AnyRef, at: Long, lines: Int, hash: Int): Boolean = {
    val mixed = mix(hash)
    val line = lineOf(at, lines, mixed)
    var bits = mixed
    var i = 0
    while (i < 5 && isSet(base, line, bits)) {
      bits >>>= 9
      i += 1
    }
    i == 5
  }

  def add(base: AnyRef, at: Long, lines: Int, hash: Int): Unit = {
    val mixed = mix(hash)
    val line = lineOf(at, lines, mixed)
    var bits = mixed
    var i = 0
    while (i < 5) {
      val byte = line + ((bits & 511) >>> 3)
      Mem.putByte(base, byte, (Mem.getByte(base, byte) | 1 << (bits & 7).toInt).toByte)
      bits >>>= 9
      i += 1
    }
  }

  private def isSet(base: AnyRef, line: Long, bits: Long): Boolean =
    (Mem.getByte(base, line + ((bits & 511) >>> 3)) & 1 << (bits & 7).toInt) != 0

  /** The upper 19 bits choose the line, the lower 45 the bits in it. */
  private def lineOf(at: Long, lines: Int, mixed: Long): Long =
    at + ((mixed >>> 45) * lines >>> 19) * LineBytes

  /** Spreads a hash over 64 bits: the last step of splitmix64. */
  private def mix(hash: Int): Long = {
    var z = (hash & 0xffffffffL) * 0x9e3779b97f4a7c15L
    z = (z ^ (z >>> 30)) * 0xbf58476d1ce4e5b9L
    z = (z ^ (z >>> 27)) * 0x94d049bb133111ebL
    z ^ (z >>> 31)
  }
}

package io.keyfold.group

/** Apache Flink's assignment of keys to key groups, for pipelines that place keys themselves and
  * for comparison with Flink. Keyfold's own state uses [[KeyGroups]].
  *
  * The algorithm is that of Flink's `KeyGroupRangeAssignment` and `MathUtils.murmurHash`, which is
  * MurmurHash3 (x86, 32 bit) of one block with seed 0, made non-negative.
  */
object FlinkAssignment {

  /** Maximum number of key groups, as in Flink. */
  val Limit: Int = 1 << 15

  /** Key group, 0 until `maxParallelism`, of a key with this Java `hashCode`.
    *
    * @param maxParallelism
    *   number of key groups, 1 to 32,768
    * @throws java.lang.IllegalArgumentException
    *   if it is out of range
    */
  def keyGroup(hashCode: Int, maxParallelism: Int): Int = {
    require(
      maxParallelism >= 1 && maxParallelism <= Limit,
      s"Invalid max parallelism: $maxParallelism, must be between 1 and $Limit"
    )
    murmur(hashCode) % maxParallelism
  }

  private def murmur(code: Int): Int = {
    var h = Integer.rotateLeft(code * 0xcc9e2d51, 15) * 0x1b873593
    h = Integer.rotateLeft(h, 13) * 5 + 0xe6546b64
    h ^= 4
    h = (h ^ (h >>> 16)) * 0x85ebca6b
    h = (h ^ (h >>> 13)) * 0xc2b2ae35
    h ^= h >>> 16
    if (h == Int.MinValue) 0 else math.abs(h)
  }
}

package io.keyfold.group

/** Apache Flink's assignment of keys to parallel instances of an operator, for pipelines that place
  * keys themselves and for comparison with Flink: key -> key group (of `maxParallelism`) ->
  * operator index (of the parallelism), each operator with a contiguous range of key groups.
  *
  * Keyfold's own state uses [[KeyGroups]]. The algorithm is that of Flink's
  * `KeyGroupRangeAssignment` and `MathUtils.murmurHash`, which is MurmurHash3 (x86, 32 bit) of one
  * block with seed 0, made non-negative.
  *
  * @param maxParallelism
  *   number of key groups, 1 to 32,768
  * @throws java.lang.IllegalArgumentException
  *   if it is out of range
  */
final class FlinkAssignment(val maxParallelism: Int) extends Serializable {
  require(
    maxParallelism >= 1 && maxParallelism <= FlinkAssignment.Limit,
    s"Invalid max parallelism: $maxParallelism, must be between 1 and ${FlinkAssignment.Limit}"
  )

  /** Key group, 0 until `maxParallelism`, of a key with this Java `hashCode`. */
  def keyGroup(hashCode: Int): Int = FlinkAssignment.murmur(hashCode) % maxParallelism

  /** The operator, 0 until `parallelism`, that owns a key group.
    *
    * @throws java.lang.IllegalArgumentException
    *   if `parallelism` is not between 1 and `maxParallelism`, or there is no such key group
    */
  def operatorOf(keyGroup: Int, parallelism: Int): Int = {
    checkParallelism(parallelism)
    require(
      keyGroup >= 0 && keyGroup < maxParallelism,
      s"Invalid key group: $keyGroup, must be between 0 and ${maxParallelism - 1}"
    )
    // At most 2^30: both factors are bounded.
    keyGroup * parallelism / maxParallelism
  }

  /** The key groups of an operator.
    *
    * @throws java.lang.IllegalArgumentException
    *   as for [[operatorOf]]
    */
  def keyGroupsOf(operator: Int, parallelism: Int): Range = {
    checkParallelism(parallelism)
    require(
      operator >= 0 && operator < parallelism,
      s"Invalid operator index: $operator, must be between 0 and ${parallelism - 1}"
    )
    firstOf(operator, parallelism) until firstOf(operator + 1, parallelism)
  }

  private def firstOf(operator: Int, parallelism: Int) =
    (operator * maxParallelism + parallelism - 1) / parallelism

  private def checkParallelism(parallelism: Int): Unit = require(
    parallelism >= 1 && parallelism <= maxParallelism,
    s"Invalid parallelism: $parallelism, must be between 1 and the max parallelism, $maxParallelism"
  )
}

object FlinkAssignment {

  /** Maximum number of key groups: an operator index times a parallelism must fit 32 bits. */
  val Limit: Int = 1 << 15

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

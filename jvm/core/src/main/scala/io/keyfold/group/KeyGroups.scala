package io.keyfold.group

/** Assigns rows: `hash` -> key group (of G) -> partition (of N).
  *
  * A partition owns whole groups whenever N divides G: `pmod(pmod(h, G), N) == pmod(h, N)` holds
  * then and only then, so a change of N rewrites no rows.
  */
object KeyGroups {

  /** Highly composite factors, so that the number of key groups has many divisors to rescale to. */
  private val Factors = Array(1, 2, 6, 12, 24, 60, 120, 360, 720, 2520, 5040)

  private val AimedAt = 4096

  /** Maximum number of key groups: each family of a store has a table of them. */
  val Most: Int = 1 << 20

  /** Key group of a hash, 0 until `groups`. */
  def groupOf(hash: Int, groups: Int): Int = Math.floorMod(hash, groups)

  /** Partition of a hash, 0 until `partitions`. */
  def partitionOf(hash: Int, partitions: Int): Int = Math.floorMod(hash, partitions)

  /** Number of key groups for a new checkpoint: a multiple of `partitions`, about 4096 or more.
    *
    * @param partitions
    *   N; 0: not known, taken as 1
    */
  def defaultCount(partitions: Int): Int = {
    val n = math.max(partitions, 1)
    Factors.find(_.toLong * n >= AimedAt).get * n
  }

  private[group] def gcd(a: Int, b: Int): Int = if (b == 0) a else gcd(b, a % b)
}

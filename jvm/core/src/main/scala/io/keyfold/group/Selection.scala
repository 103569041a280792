package io.keyfold.group

/** Rows of a file: those of the groups with `group mod groupModulus == groupResidue` and of them,
  * unless `rowModulus` is 0, those with `pmod(hash, rowModulus) == rowResidue`: docs/FORMAT.md,
  * section 4.7. `groupModulus` divides the number of key groups.
  */
final case class Selection(
    groupModulus: Int,
    groupResidue: Int,
    rowModulus: Int,
    rowResidue: Int
) {
  import Selection._

  def hasGroup(group: Int): Boolean = group % groupModulus == groupResidue

  /** Whether it has a row of one of its groups. */
  def hasRow(hash: Int): Boolean =
    rowModulus == 0 || Math.floorMod(hash, rowModulus) == rowResidue

  /** Its groups with all their rows. */
  def ofGroups: Selection = Selection(groupModulus, groupResidue, 0, 0)

  /** Rows that are in both; nothing if none can be.
    *
    * A row that a first rescale left in another partition stays out: the partition that has it
    * hands it over, with what became of it since.
    *
    * @throws java.lang.ArithmeticException
    *   if a modulus of the result would be above 2147483647
    */
  def and(other: Selection): Option[Selection] =
    for {
      (groups, group) <- meet(
        (groupModulus, groupResidue),
        (other.groupModulus, other.groupResidue)
      )
      rows <- meet((rowModulus, rowResidue), (other.rowModulus, other.rowResidue))
      // Both say something of the hash: a group modulus that divides G does.
      if rows._1 == 0 || meet((groups, group), rows).nonEmpty
    } yield Selection(groups, group, rows._1, rows._2)
}

object Selection {

  /** All rows. */
  val All: Selection = Selection(1, 0, 0, 0)

  /** What partition `partition` of `partitions` owns. A row's group says what its hash is modulo
    * `groups`, and so modulo `gcd(groups, partitions)`; if that is less than `partitions`, rows
    * have to be looked at.
    */
  def ofPartition(partition: Int, partitions: Int, groups: Int): Selection = {
    val modulus = KeyGroups.gcd(groups, partitions)
    if (modulus == partitions) Selection(modulus, partition, 0, 0)
    else Selection(modulus, partition % modulus, partitions, partition)
  }

  /** The numbers that are `a._2` modulo `a._1` and `b._2` modulo `b._1`; a modulus of 0: any. */
  private def meet(a: (Int, Int), b: (Int, Int)): Option[(Int, Int)] =
    // Steps of the larger modulus: there are fewer of them.
    if (a._1 < b._1) meet(b, a)
    else if (a._1 == 0) Some(b)
    else if (b._1 == 0) Some(a)
    else {
      val shared = KeyGroups.gcd(a._1, b._1)
      if (a._2 % shared != b._2 % shared) None
      else {
        val modulus = Math.toIntExact(a._1.toLong / shared * b._1)
        val step = a._1.toLong
        val residue =
          Iterator.iterate(a._2.toLong)(_ + step).find(_ % b._1 == b._2).get % modulus
        Some((modulus, residue.toInt))
      }
    }
}

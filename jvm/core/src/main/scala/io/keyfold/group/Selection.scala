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
) extends RowSet {
  override def hasGroup(group: Int): Boolean = group % groupModulus == groupResidue

  override def hasRow(hash: Int): Boolean =
    rowModulus == 0 || Math.floorMod(hash, rowModulus) == rowResidue
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
}

package io.keyfold.group

/** Rows of a file: those of the groups with `group mod groupModulus == groupResidue`, and of these,
  * unless `rowModulus` is 0, those with `pmod(hash, rowModulus) == rowResidue`: docs/FORMAT.md,
  * section 11. `groupModulus` divides the number of key groups.
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

  /** The rows of partition `partition` of `partitions`. A row's group determines its hash modulo
    * `gcd(groups, partitions)`; if that is less than `partitions`, rows have to be filtered by
    * hash.
    */
  def ofPartition(partition: Int, partitions: Int, groups: Int): Selection = {
    val modulus = KeyGroups.gcd(groups, partitions)
    if (modulus == partitions) Selection(modulus, partition, 0, 0)
    else Selection(modulus, partition % modulus, partitions, partition)
  }
}

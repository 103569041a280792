package io.keyfold.store.load

import io.keyfold.format.{FileReader, Footer, Identity}
import io.keyfold.group.{KeyGroups, PartitionSet}
import io.keyfold.map.MapTxn
import io.keyfold.model.Family
import io.keyfold.store.file.{ReferencedFile, RowChecksum, StoreFiles}

/** Applies the rows that a reference takes from other files to a transaction.
  *
  * A file may record that a family was dropped. The drop holds for the rows taken of that file's
  * partition and no others: those may be newer than the drop. So no family is dropped; instead,
  * entries of earlier files that a drop covers are skipped. This needs a pass over all footers,
  * which is made only once a file drops a family or has one that no longer exists.
  *
  * A rescale moves no strays: a family that a file marks as having them was dropped later, with all
  * that the file has of it.
  *
  * @param reference
  *   footer of the reference
  * @param partitions
  *   N of the version being loaded
  */
private[store] final class ReferenceApplier(
    txn: MapTxn,
    files: StoreFiles,
    reference: Footer,
    partitions: Int,
    partition: Int,
    rowChecksum: RowChecksum
) {
  import ReferenceApplier._

  private val all = files.referenced(reference)

  /** Number of files to read, and stored size of the blocks that were read. */
  def fileCount: Int = all.length
  var blockBytes = 0L

  /** The transaction must be new.
    *
    * @param drops
    *   None: not known
    * @return
    *   false if the drops must be known; with them it must be done again, in another transaction
    */
  def applyAll(drops: Option[Seq[Drop]]): Boolean = {
    reference.families.foreach(f => txn.createFamily(f.spec))
    all.indices.forall { index =>
      using(all(index)) { file =>
        val families = file.footer.families.map(indexOf).toArray
        (drops.nonEmpty || (file.footer.dropped.isEmpty && !families.contains(-1))) && {
          apply(file, index, families, drops.getOrElse(Nil))
          true
        }
      }
    }
  }

  private def apply(
      file: FileReader,
      index: Int,
      families: Array[Int],
      drops: Seq[Drop]
  ): Unit = {
    val later = drops.filter(_.file > index)
    val dropped = file.footer.families.map { family =>
      if (family.spec.strays) List((_: Int) => true)
      else later.filter(_.family == family.spec.name).map(_.rows).toList
    }
    val wanted =
      new EntryFilter(all(index).taken, dropped.toArray.filter(_ => dropped.exists(_.nonEmpty)))
    val applier = new EntryApplier(families, file, wanted, partitions, partition, rowChecksum)
    applier.applyAll(txn)
    blockBytes += applier.blockBytes
  }

  /** A family that was dropped later may have had another layout. */
  private def indexOf(family: Family): Int = {
    val index = txn.familyIndex(family.spec.name)
    if (index >= 0 && txn.families(index).spec.isKeptAs(family.spec)) index else -1
  }

  def findDrops(): Seq[Drop] = all.indices.flatMap { i =>
    using(all(i)) { file =>
      val rows = rowsOf(file.footer.identity, all(i).taken)
      file.footer.dropped.map(Drop(i, _, rows))
    }
  }

  /** The rows of a file's partition that a reference takes, whether or not the file has them. */
  private def rowsOf(file: Identity, taken: Seq[PartitionSet]): Int => Boolean = hash => {
    val group = KeyGroups.groupOf(hash, file.keyGroups)
    KeyGroups.partitionOf(hash, file.partitions) == file.partition &&
    taken.forall(set => set.hasGroup(group) && set.hasRow(hash))
  }

  private def using[T](from: ReferencedFile)(body: FileReader => T): T = {
    val file = files.openReferenced(from.file, reference.identity)
    try body(file)
    finally file.close()
  }
}

private[load] object ReferenceApplier {

  /** A family was dropped for these rows, before the entries of the file with that index. */
  final case class Drop(file: Int, family: String, rows: Int => Boolean)
}

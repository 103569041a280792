package io.keyfold.store.load

import scala.annotation.tailrec

import io.keyfold.format.{FileReader, Footer}
import io.keyfold.map.MapTxn
import io.keyfold.model.Family
import io.keyfold.store.file.{ReferencedFile, RowChecksum, StoreFiles}

/** Puts the rows that a reference takes from other files into a transaction.
  *
  * A file may say that a family was dropped. That is true of the rows that are taken of its
  * partition, and no others: those may be from after the drop, and the file may come again further
  * down, where the rows of another partition in between are taken. So nothing is dropped; entries
  * of earlier files that the drop concerns are left out. It takes looking ahead, which is only done
  * once a file is met that drops a family, or has one that is not there any more.
  *
  * @param reference
  *   footer of the reference
  * @param partitions
  *   N of the version that is loaded
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

  /** How many files there are to read, and how many bytes their blocks had that were read. */
  def fileCount: Int = all.length
  var blockBytes = 0L

  /** The transaction must be new. */
  def applyAll(): Unit = {
    createFamilies()
    if (!applyFrom(0, None)) {
      while (txn.families.nonEmpty) txn.dropFamily(0)
      createFamilies()
      applyFrom(0, Some(findDrops()))
      ()
    }
  }

  private def createFamilies(): Unit = reference.families.foreach(f => txn.createFamily(f.spec))

  /** @param drops
    *   if they are known
    * @return
    *   false if they have to be
    */
  @tailrec
  private def applyFrom(index: Int, drops: Option[Seq[Drop]]): Boolean =
    index == all.length || {
      val go = using(all(index)) { file =>
        val families = file.footer.families.map(indexOf).toArray
        (drops.nonEmpty || (file.footer.dropped.isEmpty && !families.contains(-1))) && {
          apply(file, index, families, drops.getOrElse(Nil))
          true
        }
      }
      if (go) applyFrom(index + 1, drops) else false
    }

  private def apply(
      file: FileReader,
      index: Int,
      families: Array[Int],
      drops: Seq[Drop]
  ): Unit = {
    val later = drops.filter(_.file > index)
    val dropped =
      if (later.isEmpty) Array.empty[List[EntryFilter.Rows]]
      else
        file.footer.families
          .map(f => later.filter(_.family == f.spec.name).map(_.rows).toList)
          .toArray
    val wanted = new EntryFilter(all(index).taken, dropped)
    val applier = new EntryApplier(txn, families, file, wanted, partitions, partition, rowChecksum)
    applier.applyAll()
    blockBytes += applier.blockBytes
  }

  /** One that was dropped later may have been kept otherwise. */
  private def indexOf(family: Family): Int = {
    val index = txn.familyIndex(family.spec.name)
    if (index >= 0 && txn.families(index).spec.isKeptAs(family.spec)) index else -1
  }

  private def findDrops(): Seq[Drop] = all.indices.flatMap { i =>
    using(all(i)) { file =>
      val rows = new EntryFilter.Rows(file.footer.identity, all(i).taken)
      file.footer.dropped.map(Drop(i, _, rows))
    }
  }

  private def using[T](from: ReferencedFile)(body: FileReader => T): T = {
    val file = files.openReferenced(from.file, reference.identity)
    try body(file)
    finally file.close()
  }
}

private object ReferenceApplier {

  /** A family was dropped of these rows, before the entries of the file of that index. */
  final case class Drop(file: Int, family: String, rows: EntryFilter.Rows)
}

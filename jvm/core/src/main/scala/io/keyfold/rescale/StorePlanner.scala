package io.keyfold.rescale

import io.keyfold.errors.RescaleRefused
import io.keyfold.format.{Family, FileReference}
import io.keyfold.group.{Reassignment, Selection}
import io.keyfold.io.BlobStore
import io.keyfold.store.Placement

/** Plans the rescale of stores from `from` to `to` partitions. For each old partition it lists its
  * folder and reads the footers of its head and of the snapshot that it starts from, or of the
  * reference of an earlier rescale; without ids, also of the delta that the snapshot was made of.
  *
  * @param blobs
  *   the checkpoint's `state` folder
  * @param version
  *   number of the last committed version
  * @param inParallel
  *   calls a function for each of some numbers; may use several threads
  */
final class StorePlanner(
    blobs: BlobStore,
    from: Int,
    to: Int,
    version: Long,
    inParallel: StorePlanner.Parallel
) {
  import StorePlanner._

  /** @param ids
    *   of the last committed version, one for each partition, as the commit log has them; none
    *   under checkpoint format v1
    * @throws io.keyfold.errors.StoreError
    *   if it cannot be rescaled
    */
  def plan(operator: Long, store: String, ids: Option[IndexedSeq[String]]): StorePlan = {
    val old = new OldPartitions(blobs, from, version, inParallel).of(operator, store, ids)
    old.foreach(requireRules)
    val groups = keyGroups(operator, store, old)
    val partitions =
      if (old.length == 1 && old.head.isOnly) IndexedSeq(onlyPartition(old.head))
      else newPartitions(operator, store, old, groups)
    val referenced =
      partitions.flatMap(_.files.map(f => f.path.take(f.path.lastIndexOf('/'))).distinct)
    StorePlan(
      operator,
      store,
      groups,
      partitions,
      (old.map(_.location.folder) ++ referenced).distinct.sorted
    )
  }

  private def onlyPartition(old: OldPartition) = {
    val files = old.chain(Selection.All)
    PartitionPlan(0, old.footer.families, files, files.map(_.length).sum)
  }

  private def newPartitions(
      operator: Long,
      store: String,
      old: IndexedSeq[OldPartition],
      groups: Int
  ): IndexedSeq[PartitionPlan] = {
    val move = new Reassignment(from, to, groups)
    val chains = inParallel(0 until from) { p =>
      old(p).chain(Selection.ofPartition(p, from, groups).ofGroups)
    }.toIndexedSeq
    (0 until to).map { q =>
      val sources = move.sources(q)
      val now = Selection.ofPartition(q, to, groups)
      val taken =
        for (p <- sources; file <- chains(p); both <- and(operator, store, file, now)) yield {
          val share = file.taken.groupModulus.toDouble / both.groupModulus
          (file.copy(taken = both), math.ceil(file.length * share).toLong)
        }
      if (taken.length > MostFiles && taken.map(_._1.path).distinct.length < taken.length) {
        throw refused(
          operator,
          store,
          s"partition $q would have to read ${taken.length} files; $Materialise"
        )
      }
      val families = merged(operator, store, sources.map(old(_).footer.families))
      PartitionPlan(q, families, taken.map(_._1), taken.map(_._2).sum)
    }
  }

  private def and(operator: Long, store: String, file: FileReference, now: Selection) =
    try file.taken and now
    catch {
      case _: ArithmeticException =>
        throw refused(
          operator,
          store,
          s"what a partition would take of the first files cannot be said any more; $Materialise"
        )
    }

  private def requireRules(old: OldPartition): Unit =
    for (family <- old.footer.families if family.spec.partitionKey == Placement.NoRule) {
      throw new RescaleRefused(
        "KEYFOLD_RESCALE_NO_RULE",
        s"Cannot rescale ${old.location}: of column family ${family.spec.name} it is not known by " +
          "which columns its operator partitions its input"
      )
    }

  private def keyGroups(operator: Long, store: String, old: IndexedSeq[OldPartition]): Int = {
    val found = old.map(_.footer.identity.keyGroups).distinct
    if (found.length > 1) {
      throw refused(operator, store, s"its files have ${found.mkString(" and ")} key groups")
    }
    found.head
  }

  /** Families by name, and how much the new partition has of each, if it takes old ones whole. */
  private def merged(operator: Long, store: String, of: Seq[Seq[Family]]): Seq[Family] = {
    val whole = from % to == 0
    def sum(numbers: Seq[Long]) = if (whole && numbers.forall(_ >= 0)) numbers.sum else -1L
    of.flatten.map(_.spec.name).distinct.map { name =>
      val same = of.flatten.filter(_.spec.name == name)
      if (!same.forall(_.spec.isKeptAs(same.head.spec))) {
        throw refused(operator, store, s"its column family $name is not the same in all partitions")
      }
      Family(same.head.spec, sum(same.map(_.keys)), sum(same.map(_.values)), sum(same.map(_.bytes)))
    }
  }
}

object StorePlanner {

  /** Most files that a partition may have to be put together from, if some are named more than
    * once.
    */
  private val MostFiles = 10000

  private val Materialise =
    "it was rescaled several times before it wrote snapshots; run the query " +
      "until it has (spark.sql.streaming.stateStore.minDeltasForSnapshot batches), and then rescale it"

  private[rescale] def refused(operator: Long, store: String, detail: String) = new RescaleRefused(
    "KEYFOLD_RESCALE_STATE",
    s"Cannot rescale operator $operator store $store: $detail"
  )

  /** Applies a function to some numbers, in order of the numbers, in whatever order in time. */
  trait Parallel {
    def apply[T](numbers: Range)(f: Int => T): Seq[T]
  }

  /** One after the other. */
  val InTurn: Parallel = new Parallel {
    override def apply[T](numbers: Range)(f: Int => T): Seq[T] = numbers.map(f)
  }
}

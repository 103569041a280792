package io.keyfold.rescale

import io.keyfold.errors.RescaleRefused
import io.keyfold.format.{Layer, LayerPartition}
import io.keyfold.group.Reassignment
import io.keyfold.io.BlobStore
import io.keyfold.model.{Family, PartitionRule, StoreLocation}

/** Plans the rescale of stores from `from` to `to` partitions. For each old partition it lists the
  * folder and reads the footers of the head and of the snapshot or reference at the start of its
  * chain; without ids also of the delta that the snapshot was made of.
  *
  * @param blobs
  *   the checkpoint
  * @param version
  *   number of the last committed version
  * @param inParallel
  *   applies a function to each item, possibly on several threads
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
    *   if the store cannot be rescaled
    */
  def plan(operator: Long, store: String, ids: Option[IndexedSeq[String]]): StorePlan = {
    val old = new OldPartitions(blobs, from, version, inParallel).of(operator, store, ids) { it =>
      requireRules(it)
      Old(it.location, it.footer.identity.keyGroups, it.footer.families, it.isOnly, it.chain)
    }
    val groups = keyGroups(operator, store, old)
    val below = new LayersBelow(blobs).of(old.flatMap(_.chain.base))
    val layers = below :+ Layer(
      from,
      old.map(it => LayerPartition(it.location.partition, it.chain.base.nonEmpty, it.chain.files))
    )
    val folders =
      layers.flatMap(_.members).flatMap(_.files).map(f => f.path.take(f.path.lastIndexOf('/')))
    StorePlan(
      operator,
      store,
      to,
      groups,
      layers,
      newPartitions(operator, store, old, groups, layers),
      (old.map(_.location.folder) ++ folders).distinct.sorted
    )
  }

  private def newPartitions(
      operator: Long,
      store: String,
      old: IndexedSeq[Old],
      groups: Int,
      layers: Seq[Layer]
  ): IndexedSeq[PartitionPlan] = {
    val isOnly = old.length == 1 && old.head.isOnly
    val move = new Reassignment(from, to, groups)
    val loads = layers.map(layer => new FirstLoads(layer, to, groups, isOnly))
    val families =
      if (isOnly) IndexedSeq(old.head.families.map(moved))
      else
        old
          .groupBy(it => move.classOf(it.location.partition))
          .toIndexedSeq
          .sortBy(_._1)
          .map { case (_, same) => merged(operator, store, same.map(_.families)) }
    val filtersRows = groups % to != 0
    (0 until (if (isOnly) 1 else to)).map { q =>
      PartitionPlan(
        q,
        families(move.classOf(q)),
        loads.map(_.files(q)).sum,
        loads.map(_.bytes(q)).sum,
        filtersRows
      )
    }
  }

  private def requireRules(old: OldPartition): Unit =
    for (family <- old.footer.families.map(_.spec)) {
      if (family.partitionKey == PartitionRule.NoRule) {
        throw new RescaleRefused(
          "KEYFOLD_RESCALE_NO_RULE",
          s"Cannot rescale ${old.location}: it is not known by which columns the operator of " +
            s"column family ${family.name} partitions its input"
        )
      }
      if (family.strays) {
        throw new RescaleRefused(
          "KEYFOLD_RESCALE_PLACEMENT",
          s"Cannot rescale ${old.location}: rows of column family ${family.name} are in other " +
            "partitions than their keys' hashes say. Spark partitions the operator's input by other " +
            "values than those of the stored keys, such as a column of another type. Start the query " +
            "on a new checkpoint location with the new number of partitions; to be able to rescale " +
            "that one, group by values that are stored as they are (cast the column to the key's type)"
        )
      }
    }

  private def keyGroups(operator: Long, store: String, old: IndexedSeq[Old]): Int = {
    val found = old.map(_.keyGroups).distinct
    if (found.length > 1) {
      throw refused(operator, store, s"its files have ${found.mkString(" and ")} key groups")
    }
    found.head
  }

  private def moved(family: Family) = family.copy(spec = family.spec.copy(rescaled = true))

  /** Families by name, with their sizes in the new partition if it takes whole old ones. */
  private def merged(operator: Long, store: String, of: Seq[Seq[Family]]): Seq[Family] = {
    val whole = from % to == 0
    def sum(numbers: Seq[Long]) = if (whole && numbers.forall(_ >= 0)) numbers.sum else -1L
    val byName = of.flatten.groupBy(_.spec.name)
    of.flatten.map(_.spec.name).distinct.map { name =>
      val same = byName(name)
      if (!same.forall(_.spec.isKeptAs(same.head.spec))) {
        throw refused(operator, store, s"its column family $name is not the same in all partitions")
      }
      moved(
        Family(
          same.head.spec,
          sum(same.map(_.keys)),
          sum(same.map(_.values)),
          sum(same.map(_.bytes))
        )
      )
    }
  }
}

object StorePlanner {

  /** The data of an old partition that planning needs. */
  private final case class Old(
      location: StoreLocation,
      keyGroups: Int,
      families: Seq[Family],
      isOnly: Boolean,
      chain: OldPartition.Chain
  )

  /** The files and bytes that first loads read of a layer, by class of partitions. */
  private final class FirstLoads(layer: Layer, to: Int, groups: Int, isOnly: Boolean) {
    private val move = new Reassignment(layer.partitions, to, groups)
    private val share = if (isOnly) 1.0 else move.share
    private val found = new Array[(Int, Long)](move.classes)
    for ((c, of) <- layer.members.groupBy(it => move.classOf(it.partition))) {
      val lengths = of.flatMap(_.files.map(_.length))
      found(c) = (lengths.length, lengths.map(length => math.ceil(length * share).toLong).sum)
    }

    def files(partition: Int): Int = of(partition)._1
    def bytes(partition: Int): Long = of(partition)._2

    private def of(partition: Int) = Option(found(move.classOf(partition))).getOrElse((0, 0L))
  }

  private[rescale] def refused(operator: Long, store: String, detail: String) = new RescaleRefused(
    "KEYFOLD_RESCALE_STATE",
    s"Cannot rescale operator $operator store $store: $detail"
  )

  /** Applies a function to each item; results are in order, calls may run in any order. */
  trait Parallel {
    def apply[A, B](items: Seq[A])(f: A => B): Seq[B]
  }

  /** Calls one after another. */
  val InTurn: Parallel = new Parallel {
    override def apply[A, B](items: Seq[A])(f: A => B): Seq[B] = items.map(f)
  }
}

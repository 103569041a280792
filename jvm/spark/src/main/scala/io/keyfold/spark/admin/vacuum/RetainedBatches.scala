package io.keyfold.spark.admin.vacuum

import scala.collection.mutable

import io.keyfold.format.FileKind
import io.keyfold.io.BlobStore
import io.keyfold.model.{StoreLocation, VersionId}
import io.keyfold.spark.checkpoint.CheckpointLogs
import io.keyfold.store.file.LineageReader

/** Decides which files below `state` the batches in the commit log need.
  *
  * @param blobs
  *   the checkpoint
  * @param numbers
  *   of batches that may be in the log
  */
private final class RetainedBatches(logs: CheckpointLogs, blobs: BlobStore, numbers: Seq[Long]) {
  import RetainedBatches._

  /** Newest first. */
  private val batches = numbers.distinct.sorted.reverse.filter(logs.hasCommitted).map { number =>
    Batch(number, logs.ids(number), logs.partitions(number), logs.isKeyfolds(number))
  }

  /** Empty if Spark cannot list the operators, for example if there is a folder of an unknown one.
    */
  private lazy val stores = batches.headOption
    .fold(Seq.empty[CheckpointLogs.Operator])(newest => logs.operators(newest.number))
    .map(operator => operator.id.toString -> operator.stores)
    .toMap

  private val needed = mutable.Map.empty[StoreLocation, NeededVersions]

  /** Why a file must stay; None if no batch needs it.
    *
    * @param path
    *   relative to the checkpoint, below `state`
    */
  def reasonToKeep(path: String): Option[String] = path.split('/').toSeq match {
    case Seq("state", operator, below @ _*) if below.nonEmpty && mayHave(operator) =>
      if (below.exists(_.startsWith("_"))) Some("describes the state")
      else
        FileKind.parse(below.last) match {
          case Some((version, _))                       => reasonToKeep(operator, below, version)
          case None if below.exists(_.matches(RocksDb)) =>
            batches.find(!_.isKeyfolds).map { batch =>
              s"may be of batch ${batch.number}, whose state is another provider's"
            }
          case None => None
        }
    case _ => None
  }

  private def reasonToKeep(operator: String, below: Seq[String], version: VersionId) = {
    val folders = below.init
    val store = folders.lift(1).getOrElse(StoreLocation.DefaultStore)
    val isNeeded = folders.lengthIs <= 2 && mayHave(operator, store) &&
      folders.headOption.flatMap(_.toIntOption).exists { partition =>
        operator.toLongOption.forall { id =>
          neededOf(StoreLocation(id, partition, store)).contains(version)
        }
      }
    Option.when(isNeeded)("is of a version that retained batches need")
  }

  private def mayHave(operator: String): Boolean = batches.isEmpty || batches.exists { batch =>
    batch.ids.fold(stores.isEmpty || stores.contains(operator))(
      _.keys.exists(_.toString == operator)
    )
  }

  private def neededOf(store: StoreLocation) = needed.getOrElseUpdate(
    store,
    new NeededVersions(new LineageReader(blobs, store), versions(store.operator, store.partition))
  )

  private def mayHave(operator: String, store: String): Boolean =
    stores.get(operator).forall(_.contains(store))

  /** Versions of all stores of a partition: ids are unique, so stores need not be told apart. */
  private def versions(operator: Long, partition: Int): Seq[VersionId] = batches.flatMap { batch =>
    val ids = batch.ids match {
      case Some(ids) =>
        ids.get(operator).flatMap(_.lift(partition)).toSeq.flatten
      case None => if (batch.partitions.forall(partition < _)) Seq("") else Nil
    }
    ids.map(VersionId(batch.number + 1, _).written)
  }
}

private object RetainedBatches {

  /** File names that only Spark's RocksDB provider uses. */
  private val RocksDb = """SSTs|\d+(_[^/.]+)*\.(zip|changelog)"""

  /** @param ids
    *   by operator, partition and store; None under checkpoint format v1
    * @param partitions
    *   None: not known
    */
  private final case class Batch(
      number: Long,
      ids: Option[Map[Long, Array[Array[String]]]],
      partitions: Option[Int],
      isKeyfolds: Boolean
  )
}

package io.keyfold.spark.admin.rescale

import java.time.Clock
import java.util.UUID
import java.util.concurrent.atomic.AtomicInteger

import io.keyfold.format.{Manifest, RescalePlan, RescaledStore}
import io.keyfold.io.BlobStore
import io.keyfold.model.VersionId
import io.keyfold.rescale.{ReferenceWriter, StorePlanner}
import io.keyfold.spark.conf.BuildInfo

/** The manifest and the references that give the state of a rescale. */
private[admin] final class NewLayout(
    blobs: BlobStore,
    plan: CheckpointPlan,
    parallel: StorePlanner.Parallel,
    progress: String => Unit
) {
  private val usesIds = plan.format == 2

  /** The stores with names for their references.
    *
    * @param version
    *   of the references
    */
  def newStores(version: Long): Seq[RescaledStore] = plan.stores.map { store =>
    val references = store.partitions.map { partition =>
      val id = if (usesIds) UUID.randomUUID.toString else ""
      ReferenceWriter.pathOf(store, partition, VersionId(version, id))
    }
    RescaledStore(store.operator, store.store, references, store.frozen)
  }

  def filesOf(made: RescalePlan): Seq[String] =
    Manifest.pathOf(made.stateBatch, made.id) +: made.stores.flatMap(_.references)

  def isThere(made: RescalePlan): Boolean = {
    val paths = filesOf(made)
    parallel(paths.indices)(i => blobs.exists(paths(i))).forall(identity)
  }

  def write(made: RescalePlan): Unit = {
    val writer = new ReferenceWriter(blobs, made.id, plan.to, Clock.systemUTC(), NewLayout.Writer)
    val parts = writer.writeManifest(made.stateBatch, plan.stores)
    val all = for {
      ((store, names), ofStore) <- plan.stores.zip(made.stores).zip(parts)
      (partition, path) <- store.partitions.zip(names.references)
    } yield (store, partition, path, ofStore)
    val done = new AtomicInteger
    val step = math.max(all.length / 10, 50)
    parallel(all.indices) { i =>
      val (store, partition, path, ofStore) = all(i)
      val own = store.partsOf(partition.partition, ofStore)
      writer.write(store, partition, RescalePlan.versionOf(path), own)
      val n = done.incrementAndGet()
      if (n % step == 0 || n == all.length) progress(s"wrote $n of ${all.length} references")
    }
    ()
  }

  /** Ids of the references by operator, partition and store. */
  def idsOf(made: Seq[RescaledStore]): Map[Long, Array[Array[String]]] = plan.operators.map {
    operator =>
      val ofStores = operator.stores.map { store =>
        val names = made.find(it => it.operator == operator.id && it.store == store.store).get
        names.references.map(RescalePlan.versionOf(_).id)
      }
      operator.id -> ofStores.transpose.map(_.toArray).toArray
  }.toMap
}

private object NewLayout {
  private val Writer = s"keyfold ${BuildInfo.version} spark ${org.apache.spark.SPARK_VERSION}"
}

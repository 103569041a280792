package io.keyfold.spark.admin.rescale

import java.time.Clock
import java.util.UUID
import java.util.concurrent.atomic.AtomicInteger

import io.keyfold.format.{PlanName, RescalePlan, RescaledStore}
import io.keyfold.model.VersionId
import io.keyfold.rescale.ReferenceWriter
import io.keyfold.spark.checkpoint.CheckpointTools
import io.keyfold.spark.conf.BuildInfo

/** The plan of a rescale, and the manifest and the references that give it its state. */
private[admin] final class NewLayout(tools: CheckpointTools, plan: CheckpointPlan) {
  import CheckpointTools.progress
  import tools.{blobs, parallel}

  val usesIds: Boolean = plan.format == 2

  /** A plan with names for the references; nothing is written. */
  def newPlan(id: String): RescalePlan = {
    val name = PlanName(plan.batch, id)
    val stores = plan.stores.map { store =>
      val references = store.partitions.map { partition =>
        val id = if (usesIds) UUID.randomUUID.toString else ""
        ReferenceWriter.pathOf(store, partition, VersionId(name.version, id))
      }
      RescaledStore(store.operator, store.store, references, store.frozen)
    }
    RescalePlan(name, plan.from, plan.to, stores)
  }

  def write(made: RescalePlan): Unit = {
    val writer = new ReferenceWriter(blobs, made.name, plan.to, Clock.systemUTC(), NewLayout.Writer)
    val parts = writer.writeManifest(plan.stores)
    val all = for {
      ((store, names), ofStore) <- plan.stores.zip(made.stores).zip(parts)
      (partition, path) <- store.partitions.zip(names.references)
    } yield (store, partition, path, ofStore)
    val done = new AtomicInteger
    val step = math.max(all.length / 10, 50)
    parallel(all) { case (store, partition, path, ofStore) =>
      val own = store.partsOf(partition.partition, ofStore)
      writer.write(store, partition, RescalePlan.versionOf(path), own)
      val n = done.incrementAndGet()
      if (n % step == 0 || n == all.length) progress(s"wrote $n of ${all.length} references")
    }
    ()
  }

  /** Ids of the references by operator, partition and store. */
  def idsOf(made: RescalePlan): Map[Long, Array[Array[String]]] =
    made.stores.groupBy(_.operator).map { case (operator, stores) =>
      val ofStores = stores.map(_.references.map(RescalePlan.versionOf(_).id))
      operator -> ofStores.transpose.map(_.toArray).toArray
    }
}

private object NewLayout {
  private val Writer = s"keyfold ${BuildInfo.version} spark ${org.apache.spark.SPARK_VERSION}"
}

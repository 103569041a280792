package io.keyfold.spark.admin

import io.keyfold.errors.RescaleRefused
import io.keyfold.format.Layer
import io.keyfold.rescale.{PartitionPlan, StorePlan}
import io.keyfold.spark.admin.clone.{ClonePlan, Synced}
import io.keyfold.spark.admin.migrate.UndoPlan
import io.keyfold.spark.admin.rescale.{CheckpointPlan, OpenPlan, OperatorPlan}
import io.keyfold.spark.admin.vacuum.Unreferenced
import org.json4s.JsonDSL._
import org.json4s._
import org.json4s.jackson.JsonMethods.{compact, render}

/** Encodes plans and results as JSON for Python. */
private object AdminJson {
  private object RefusalSerializer
      extends CustomSerializer[RescaleRefused](_ =>
        (PartialFunction.empty, { case it: RescaleRefused => refusalOf(it) })
      )
  private implicit val formats: Formats = DefaultFormats + RefusalSerializer

  /** Plans with more files than this omit file names. */
  private val MostListed = 20000

  /** A plan or a result whose fields have the names that Python knows. */
  def ofFields(result: Product, applied: Boolean): String =
    text(fieldsOf(result) ~ ("applied" -> applied))

  /** @param durationMs
    *   of a rescale that was done
    */
  def of(plan: CheckpointPlan, durationMs: Option[Long]): String = text(
    ("checkpoint" -> plan.location) ~
      ("lastBatch" -> plan.lastBatch) ~
      ("batch" -> plan.batch) ~
      ("from" -> plan.from) ~
      ("to" -> plan.to) ~
      ("checkpointFormat" -> plan.format) ~
      ("resumes" -> plan.resumes) ~
      ("isOpen" -> plan.isOpen) ~
      ("referencedBytes" -> plan.stores.map(_.referencedBytes).sum) ~
      firstLoadsOf(plan.stores.flatMap(_.partitions)) ~
      ("operators" -> plan.operators.map(operatorOf(plan.files <= MostListed))) ~
      ("refusals" -> plan.refusals.map(refusalOf)) ~
      ("warnings" -> plan.warnings) ~
      ("applied" -> durationMs.nonEmpty) ~
      ("durationMs" -> durationMs)
  )

  def of(undone: OpenPlan, location: String, applied: Boolean): String = text(
    ("checkpoint" -> location) ~ ("batch" -> undone.plan.name.batch) ~
      ("from" -> undone.plan.to) ~ ("to" -> undone.plan.from) ~ ("applied" -> applied) ~
      ("operator" ->
        Option.when(undone.isRedistribution)(undone.plan.stores.head.operator))
  )

  def of(plan: ClonePlan, applied: Boolean): String = text(
    ("from" -> plan.from) ~ ("to" -> plan.to) ~ ("batch" -> plan.batch) ~
      ("applied" -> applied) ~
      ("files" -> (plan.state.size + plan.other.size)) ~
      ("bytes" -> (plan.stateBytes + plan.other.map(_.bytes).sum))
  )

  def of(synced: Synced, durationMs: Long): String = text(
    ("from" -> synced.plan.from) ~ ("to" -> synced.plan.to) ~ ("batch" -> synced.plan.batch) ~
      ("files" -> synced.files) ~ ("bytes" -> synced.bytes) ~ ("deleted" -> synced.deleted) ~
      ("durationMs" -> durationMs)
  )

  def of(plan: UndoPlan, applied: Boolean): String = text(
    ("checkpoint" -> plan.checkpoint) ~ ("batch" -> plan.batch) ~ ("provider" -> plan.provider) ~
      ("files" -> plan.files.size) ~ ("bytes" -> plan.files.map(_.bytes).sum) ~
      ("refusals" -> plan.refusals) ~ ("applied" -> applied)
  )

  def of(location: String, found: Seq[Unreferenced], applied: Boolean): String = text(
    ("checkpoint" -> location) ~ ("applied" -> applied) ~ ("unreferenced" -> found.map(fieldsOf))
  )

  private def operatorOf(listsFiles: Boolean)(operator: OperatorPlan): JObject =
    ("id" -> operator.id) ~ ("name" -> operator.name) ~
      ("stores" -> operator.stores.map(storeOf(listsFiles, _)))

  private def storeOf(listsFiles: Boolean, store: StorePlan): JObject =
    ("store" -> store.store) ~
      ("keyGroups" -> store.keyGroups) ~
      ("referencedBytes" -> store.referencedBytes) ~
      firstLoadsOf(store.partitions) ~
      ("partitions" -> store.partitions.map(partitionOf)) ~
      ("layers" -> (if (listsFiles) store.layers.map(layerOf) else Nil))

  /** The sum of the first loads of these partitions, and the largest of them. */
  private def firstLoadsOf(partitions: Seq[PartitionPlan]): JObject =
    ("firstLoadBytes" -> partitions.map(_.firstLoadBytes).sum) ~
      ("firstLoadBytesMax" -> partitions.map(_.firstLoadBytes).maxOption.getOrElse(0L)) ~
      ("firstLoadFiles" -> partitions.map(_.firstLoadFiles.toLong).sum) ~
      ("firstLoadFilesMax" -> partitions.map(_.firstLoadFiles).maxOption.getOrElse(0))

  private def partitionOf(partition: PartitionPlan): JObject =
    ("partition" -> partition.partition) ~
      ("filtersRows" -> partition.filtersRows) ~
      ("firstLoadBytes" -> partition.firstLoadBytes) ~
      ("firstLoadFiles" -> partition.firstLoadFiles)

  private def layerOf(layer: Layer): JObject =
    ("partitions" -> layer.partitions) ~
      ("files" -> layer.members.flatMap(_.files).map { file =>
        ("path" -> file.path) ~ ("length" -> file.length)
      })

  private def fieldsOf(result: Product) = Extraction.decompose(result).asInstanceOf[JObject]
  private def text(json: JObject): String = compact(render(json))

  private def refusalOf(refusal: RescaleRefused): JObject =
    ("condition" -> refusal.condition) ~ ("reason" -> refusal.getMessage)
}

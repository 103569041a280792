package io.keyfold.spark.admin

import io.keyfold.errors.RescaleRefused
import io.keyfold.format.Layer
import io.keyfold.rescale.{PartitionPlan, StorePlan}
import io.keyfold.spark.admin.clone.{ClonePlan, Synced}
import io.keyfold.spark.admin.evolve.EvolutionPlan
import io.keyfold.spark.admin.migrate.{MigrationPlan, UndoPlan}
import io.keyfold.spark.admin.redistribute.RedistributionPlan
import io.keyfold.spark.admin.rescale.{CheckpointPlan, OpenPlan, OperatorPlan}
import io.keyfold.spark.admin.rollback.RolledBack
import io.keyfold.spark.admin.vacuum.Unreferenced
import io.keyfold.spark.admin.write.StateWritePlan
import org.json4s.JsonDSL._
import org.json4s._
import org.json4s.jackson.JsonMethods.{compact, render}

/** Encodes plans and results as JSON for Python. */
private object AdminJson {

  /** Plans with more files than this omit file names. */
  private val MostListed = 20000

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

  def of(plan: RedistributionPlan, applied: Boolean): String = text(
    ("checkpoint" -> plan.location) ~ ("name" -> plan.name) ~ ("operator" -> plan.operator) ~
      ("lastBatch" -> plan.batch) ~ ("from" -> plan.from) ~ ("to" -> plan.to) ~
      ("states" -> plan.states) ~ ("partitions" -> plan.partitions) ~
      ("refusals" -> plan.refusals.map(refusalOf)) ~ ("applied" -> applied)
  )

  def of(done: RolledBack): String = text(
    ("checkpoint" -> done.location) ~
      ("batch" -> done.batch) ~
      ("from" -> done.from) ~
      ("aside" -> done.aside) ~
      ("applied" -> done.aside.nonEmpty) ~
      ("files" -> done.files) ~
      ("sink" -> done.sink) ~
      ("undone" -> done.isUndone) ~
      ("warnings" -> done.warnings)
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

  def of(plan: MigrationPlan, applied: Boolean): String = text(
    ("checkpoint" -> plan.checkpoint) ~ ("lastBatch" -> plan.batch) ~
      ("provider" -> plan.provider) ~ ("partitions" -> plan.partitions) ~ ("applied" -> applied) ~
      ("operators" -> plan.operators.map { operator =>
        ("id" -> operator.id) ~ ("name" -> operator.name) ~ ("stores" -> operator.stores)
      }) ~ ("refusals" -> plan.refusals)
  )

  def of(plan: UndoPlan, applied: Boolean): String = text(
    ("checkpoint" -> plan.checkpoint) ~ ("batch" -> plan.batch) ~ ("provider" -> plan.provider) ~
      ("files" -> plan.files.size) ~ ("bytes" -> plan.files.map(_.bytes).sum) ~
      ("refusals" -> plan.refusals) ~ ("applied" -> applied)
  )

  def of(plan: StateWritePlan): String = text(
    ("checkpoint" -> plan.checkpoint) ~ ("operator" -> plan.operator) ~ ("table" -> plan.table) ~
      ("lastBatch" -> plan.lastBatch) ~ ("put" -> plan.put) ~ ("deleted" -> plan.deleted) ~
      ("warnings" -> plan.warnings) ~ ("refusals" -> plan.refusals) ~ ("applied" -> plan.put.nonEmpty)
  )

  def of(plan: EvolutionPlan): String = text(
    ("checkpoint" -> plan.checkpoint) ~ ("target" -> plan.to) ~ ("lastBatch" -> plan.lastBatch) ~
      ("operators" -> plan.operators.map { operator =>
        ("operator" -> operator.operator) ~ ("name" -> operator.name) ~
          ("source" -> operator.from) ~ ("tables" -> operator.tables.map { table =>
            ("name" -> table.name) ~ ("source" -> table.from) ~ ("merges" -> table.merges) ~
              ("columns" -> table.columns.map { column =>
                ("name" -> column.name) ~ ("source" -> column.source) ~
                  ("aggregate" -> column.aggregate)
              })
          })
      }) ~ ("lost" -> plan.lost) ~ ("sources" -> plan.sources) ~ ("rows" -> plan.rows) ~
      ("warnings" -> plan.warnings) ~ ("refusals" -> plan.refusals) ~
      ("applied" -> plan.rows.nonEmpty)
  )

  def of(location: String, found: Seq[Unreferenced], applied: Boolean): String = text(
    ("checkpoint" -> location) ~ ("applied" -> applied) ~ ("unreferenced" -> found.map { it =>
      ("path" -> it.path) ~ ("bytes" -> it.bytes) ~ ("old" -> it.isOld)
    })
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

  private def text(json: JObject): String = compact(render(json))

  private def refusalOf(refusal: RescaleRefused): JObject =
    ("condition" -> refusal.condition) ~ ("reason" -> refusal.getMessage)
}

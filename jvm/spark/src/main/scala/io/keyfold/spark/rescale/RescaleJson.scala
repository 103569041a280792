package io.keyfold.spark.rescale

import io.keyfold.errors.RescaleRefused
import io.keyfold.format.FileReference
import io.keyfold.rescale.{PartitionPlan, StorePlan}
import org.json4s._
import org.json4s.JsonDSL._
import org.json4s.jackson.JsonMethods.{compact, render}

/** Plans and results as Python gets them. */
private object RescaleJson {

  /** Plans of more files come without their names. */
  private val MostListed = 20000

  def of(plan: CheckpointPlan): String = compact(render(planOf(plan)))

  def of(applied: Applied, ms: Long): String = compact(
    render(
      planOf(applied.plan) merge JObject(
        "applied" -> JBool(true),
        "planFile" -> JString(applied.planFile),
        "references" -> JInt(applied.references),
        "committedHere" -> JBool(applied.isMine),
        "rollbackTo" -> JLong(applied.plan.lastBatch),
        "durationMs" -> JLong(ms)
      )
    )
  )

  def of(done: RolledBack): String = compact(
    render(
      ("checkpoint" -> done.location) ~
        ("batch" -> done.batch) ~
        ("from" -> done.from) ~
        ("aside" -> done.aside) ~
        ("applied" -> done.aside.nonEmpty) ~
        ("files" -> done.files) ~
        ("warnings" -> Seq(
          "sinks that go by batch numbers, as the file sink does, skip the batches that run again"
        ))
    )
  )

  private def planOf(plan: CheckpointPlan): JObject =
    ("checkpoint" -> plan.location) ~
      ("lastBatch" -> plan.lastBatch) ~
      ("batch" -> plan.batch) ~
      ("from" -> plan.from) ~
      ("to" -> plan.to) ~
      ("checkpointFormat" -> plan.format) ~
      ("resumes" -> plan.resumes) ~
      ("applied" -> false) ~
      ("referencedBytes" -> plan.stores.map(_.referencedBytes).sum) ~
      ("firstLoadBytes" -> plan.stores.flatMap(_.partitions).map(_.firstLoadBytes).sum) ~
      ("operators" -> plan.operators.map(operatorOf(plan.files <= MostListed))) ~
      ("refusals" -> plan.refusals.map(refusalOf)) ~
      ("warnings" -> plan.warnings)

  private def operatorOf(listsFiles: Boolean)(operator: OperatorPlan): JObject =
    ("id" -> operator.id) ~ ("name" -> operator.name) ~
      ("stores" -> operator.stores.map(storeOf(listsFiles, _)))

  private def storeOf(listsFiles: Boolean, store: StorePlan): JObject =
    ("store" -> store.store) ~
      ("keyGroups" -> store.keyGroups) ~
      ("referencedBytes" -> store.referencedBytes) ~
      ("partitions" -> store.partitions.map(partitionOf(listsFiles, _)))

  private def partitionOf(listsFiles: Boolean, partition: PartitionPlan): JObject =
    ("partition" -> partition.partition) ~
      ("filtersRows" -> partition.filtersRows) ~
      ("firstLoadBytes" -> partition.firstLoadBytes) ~
      ("fileCount" -> partition.files.length) ~
      ("files" -> (if (listsFiles) partition.files.map(fileOf) else Nil))

  private def fileOf(file: FileReference): JObject =
    ("path" -> file.path) ~
      ("length" -> file.length) ~
      ("groupModulus" -> file.taken.groupModulus) ~
      ("groupResidue" -> file.taken.groupResidue) ~
      ("rowModulus" -> file.taken.rowModulus) ~
      ("rowResidue" -> file.taken.rowResidue)

  private def refusalOf(refusal: RescaleRefused): JObject =
    ("condition" -> refusal.condition) ~ ("reason" -> refusal.getMessage)
}

package io.keyfold.spark.admin

import io.keyfold.errors.RescaleRefused
import io.keyfold.spark.admin.evolve.{EvolutionPlan, EvolvedColumn, EvolvedOperator, EvolvedTable}
import io.keyfold.spark.admin.migrate.MigrationPlan
import io.keyfold.spark.admin.redistribute.RedistributionPlan
import io.keyfold.spark.admin.rollback.RolledBack
import io.keyfold.spark.admin.vacuum.Unreferenced
import io.keyfold.spark.checkpoint.CheckpointLogs
import org.scalatest.funsuite.AnyFunSuite

class AdminJsonSuite extends AnyFunSuite {
  private def check(found: String, wanted: String) = assert(ujson.read(found) == ujson.read(wanted))

  test("what is not known has no field, at any depth") {
    val columns = Seq(
      EvolvedColumn("value.sum", "value.sum", Some("sum(a)")),
      EvolvedColumn("key.k", "key.k", None)
    )
    val table = EvolvedTable("default", Some("operator 0"), columns, merges = false)
    val operator = EvolvedOperator(0, "stateStoreSave", None, Seq(table))
    check(
      AdminJson.ofFields(EvolutionPlan("/a", "/b", 3, Seq(operator)), applied = false),
      """{"checkpoint": "/a", "target": "/b", "lastBatch": 3, "operators": [{"operator": 0,
          "name": "stateStoreSave", "tables": [{"name": "default", "source": "operator 0",
          "columns": [{"name": "value.sum", "source": "value.sum", "aggregate": "sum(a)"},
          {"name": "key.k", "source": "key.k"}], "merges": false}]}], "lost": [], "sources": [],
          "warnings": [], "refusals": [], "applied": false}"""
    )
  }

  test("results have the names that Python knows") {
    check(
      AdminJson
        .ofFields(RolledBack("/a", 1, 3, Some("r"), 4, None, Nil, undone = true), applied = true),
      """{"checkpoint": "/a", "batch": 1, "from": 3, "aside": "r", "files": 4, "warnings": [],
          "undone": true, "applied": true}"""
    )
    val operators = Seq(CheckpointLogs.Operator(0, "dedupe", Seq("default")))
    check(
      AdminJson.ofFields(MigrationPlan("/a", 2, "P", 4, operators, Nil), applied = true),
      """{"checkpoint": "/a", "lastBatch": 2, "provider": "P", "partitions": 4, "operators": [{"id": 0,
          "name": "dedupe", "stores": ["default"]}], "refusals": [], "applied": true}"""
    )
    check(
      AdminJson.of("/a", Seq(Unreferenced("state/x", 5, old = true)), applied = false),
      """{"checkpoint": "/a", "applied": false, "unreferenced": [{"path": "state/x", "bytes": 5,
          "old": true}]}"""
    )
  }

  test("a refusal is a condition and a reason") {
    val refusal = new RescaleRefused("KEYFOLD_X", "Why.")
    val plan =
      RedistributionPlan("/a", "op", None, 2, 0, 3, Map("s" -> "split"), 0, Seq(refusal))
    check(
      AdminJson.ofFields(plan, applied = false),
      """{"checkpoint": "/a", "name": "op", "lastBatch": 2, "from": 0, "to": 3,
          "states": {"s": "split"}, "partitions": 0, "refusals": [{"condition": "KEYFOLD_X",
          "reason": "[KEYFOLD_X] Why."}], "applied": false}"""
    )
  }
}

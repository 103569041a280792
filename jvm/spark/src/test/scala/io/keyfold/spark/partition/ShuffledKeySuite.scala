package io.keyfold.spark.partition

import org.apache.spark.sql.types.StructType
import org.scalatest.funsuite.AnyFunSuite

/** Which columns can be computed from a key of other types or in another order. */
class ShuffledKeySuite extends AnyFunSuite {
  for (
    (shuffled, stored, expected) <- Seq(
      ("a STRING, b INT", "a STRING, b INT", "0;1"),
      ("k INT", "value BIGINT", "0:integer"),
      ("k SMALLINT", "value INT", "0:short"),
      ("k FLOAT", "value DOUBLE", "0:float"),
      ("k DECIMAL(10,2)", "value DECIMAL(38,18)", "0:decimal(10,2)"),
      ("k BIGINT", "value DECIMAL(38,18)", "0:long"),
      ("a STRING, b INT", "b INT, a STRING", "1;0"),
      ("A STRING, b INT", "B BIGINT, a STRING", "1;0:integer"),
      ("s STRUCT<x: INT>, b INT", "b BIGINT, s STRUCT<x: INT>", "1;0:integer")
    )
  )
    test(s"by ($shuffled), stored as ($stored)") {
      val key = of(shuffled, stored).get
      assert(key.isStored == (expected == "0;1"))
      assert(key.toString == expected)
      assert(ShuffledKey.named(expected) == key)
    }

  for (
    (shuffled, stored) <- Seq(
      "k INT" -> "value STRING",
      "k BIGINT" -> "value DOUBLE",
      "k INT" -> "value FLOAT",
      "k BIGINT" -> "value INT",
      "k DECIMAL(38,18)" -> "value DECIMAL(10,2)",
      "k DATE" -> "value TIMESTAMP",
      "k STRUCT<x: INT, y: INT>" -> "value STRUCT<y: INT, x: INT>",
      "k STRUCT<x: INT>" -> "value STRUCT<x: BIGINT>",
      "a INT, b INT" -> "value STRUCT<a: INT, b: INT>",
      "a INT, b INT" -> "a INT, c INT",
      "a INT, A INT" -> "A INT, a INT"
    )
  )
    test(s"by ($shuffled), stored as ($stored): it cannot be computed") {
      assert(of(shuffled, stored).isEmpty)
    }

  test("the fields of a tuple or a Row are matched with the columns by their order") {
    for (
      (shuffled, stored, expected) <- Seq(
        ("a STRING, b INT", "_1 STRING, _2 BIGINT", "0;1:integer"),
        ("_2 INT, _1 INT", "_1 INT, _2 INT", "0;1")
      )
    )
      assert(of(shuffled, stored, byName = false).get.toString == expected)
  }

  private def of(shuffled: String, stored: String, byName: Boolean = true) =
    ShuffledKey.of(StructType.fromDDL(shuffled), StructType.fromDDL(stored), byName)
}

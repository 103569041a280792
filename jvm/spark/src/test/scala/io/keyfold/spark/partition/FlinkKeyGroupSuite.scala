package io.keyfold.spark.partition

import io.keyfold.group.FlinkAssignment
import io.keyfold.spark.{KeyfoldExtensions, LocalSpark, QuietLogs}
import org.apache.spark.sql.AnalysisException
import org.apache.spark.sql.functions.{call_function, col, lit}
import org.scalatest.funsuite.AnyFunSuite

class FlinkKeyGroupSuite extends AnyFunSuite with QuietLogs with LocalSpark {
  override protected def settings: Map[String, String] =
    Map("spark.sql.extensions" -> classOf[KeyfoldExtensions].getName)

  private def groups(rows: String, wholeStage: Boolean) = {
    spark.conf.set("spark.sql.codegen.wholeStage", wholeStage.toString)
    spark.conf.set(
      "spark.sql.codegen.factoryMode",
      if (wholeStage) "CODEGEN_ONLY" else "NO_CODEGEN"
    )
    val found = spark
      .sql(s"SELECT * FROM VALUES $rows AS t(key)")
      .repartition(1)
      .select(call_function(FlinkKeyGroup.Name, col("key"), lit(128)))
      .collect()
    found.map(row => if (row.isNullAt(0)) None else Some(row.getInt(0))).toSet
  }

  for (wholeStage <- Seq(true, false))
    test(s"a column of keys has Flink's key groups, generated code: $wholeStage") {
      def check(rows: String, keys: Any*) = assert(
        groups(rows, wholeStage) == keys.map { key =>
          Option(key).map(it => FlinkAssignment.keyGroup(it.hashCode, 128))
        }.toSet
      )
      // As published for Flink at a max parallelism of 128.
      assert(groups("('device-1'), ('device-222')", wholeStage) == Set(Some(3), Some(120)))
      check("('é𝄞'), (''), (CAST(NULL AS STRING))", "é𝄞", "", null)
      check("(true), (false)", true, false)
      check("(-1Y), (7Y)", -1, 7)
      check("(-300S), (7S)", -300, 7)
      check("(-2147483648), (12)", Int.MinValue, 12)
      check("(-9223372036854775808L), (-1L), (12L)", Long.MinValue, -1L, 12L)
    }

  test("what cannot be a key, or a number of groups, is refused") {
    intercept[AnalysisException](groups("(1.5D)", wholeStage = false))
    val error = intercept[Exception] {
      spark.sql(s"SELECT ${FlinkKeyGroup.Name}('a', 40000)").collect()
    }
    assert(error.getMessage.contains("Invalid max parallelism: 40000"))
  }
}

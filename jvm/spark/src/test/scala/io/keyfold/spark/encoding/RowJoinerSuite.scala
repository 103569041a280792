package io.keyfold.spark.encoding

import scala.util.Random

import io.keyfold.spark.RandomRows
import org.apache.spark.sql.catalyst.expressions.codegen.GenerateUnsafeRowJoiner
import org.scalatest.funsuite.AnyFunSuite

class RowJoinerSuite extends AnyFunSuite {
  test("rows are joined as Spark's generated code does it") {
    for (seed <- 1 to 30) {
      val random = new Random(seed.toLong)
      val a = RandomRows.schema(random.nextInt(RandomRows.columns(seed)), random)
      val b = RandomRows.schema(random.nextInt(RandomRows.columns(seed)), random)
      val joiner = new RowJoiner(a, b)
      val expected = GenerateUnsafeRowJoiner.create(a, b)
      for (_ <- 1 to 3) {
        val (left, right) = (RandomRows.row(a, random), RandomRows.row(b, random))
        assert(joiner.join(left, right) == expected.join(left, right), s"seed $seed: $a $b")
      }
    }
  }
}

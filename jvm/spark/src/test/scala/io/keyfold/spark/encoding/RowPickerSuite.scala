package io.keyfold.spark.encoding

import scala.util.Random

import io.keyfold.spark.RandomRows
import org.apache.spark.sql.catalyst.expressions.{BoundReference, UnsafeProjection}
import org.apache.spark.sql.types._
import org.scalatest.funsuite.AnyFunSuite

class RowPickerSuite extends AnyFunSuite {
  test("columns are taken as Spark's generated code does it, in any order") {
    for (seed <- 1 to 30) {
      val random = new Random(seed.toLong)
      val schema = RandomRows.schema(1 + random.nextInt(RandomRows.columns(seed)), random)
      val columns = random.shuffle(schema.indices.toList).take(random.nextInt(70)).toArray
      val picker = new RowPicker(schema, columns)
      val expected = UnsafeProjection.create(columns.toSeq.map { i =>
        BoundReference(i, schema(i).dataType, nullable = true)
      })
      for (_ <- 1 to 3) {
        val row = RandomRows.row(schema, random)
        assert(picker.pick(row) == expected(row), s"seed $seed: $schema ${columns.toSeq}")
      }
    }
  }

  test("no column gives the empty row") {
    val schema = new StructType().add("a", LongType)
    val row = RandomRows.row(schema, new Random(1))
    assert(new RowPicker(schema, Array.empty).pick(row).getSizeInBytes == 0)
  }
}

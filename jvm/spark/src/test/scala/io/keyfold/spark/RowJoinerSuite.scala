package io.keyfold.spark

import java.math.{BigDecimal => JavaDecimal}

import scala.util.Random

import org.apache.spark.sql.catalyst.expressions.UnsafeProjection
import org.apache.spark.sql.catalyst.expressions.codegen.GenerateUnsafeRowJoiner
import org.apache.spark.sql.catalyst.{CatalystTypeConverters, InternalRow}
import org.apache.spark.sql.types._
import org.scalatest.funsuite.AnyFunSuite

class RowJoinerSuite extends AnyFunSuite {
  private val types =
    Seq(LongType, IntegerType, StringType, BinaryType, DecimalType(38, 10), DecimalType(10, 2))

  private def valueOf(dataType: DataType, random: Random): Any = dataType match {
    case LongType       => random.nextLong()
    case IntegerType    => random.nextInt()
    case StringType     => random.nextString(random.nextInt(20))
    case BinaryType     => random.nextBytes(random.nextInt(20))
    case d: DecimalType => new JavaDecimal(random.nextInt()).setScale(d.scale)
    case other          => fail(s"no value of $other")
  }

  private def row(schema: StructType, random: Random) = {
    val values = schema.map { field =>
      if (random.nextInt(4) == 0) null
      else CatalystTypeConverters.convertToCatalyst(valueOf(field.dataType, random))
    }
    UnsafeProjection.create(schema)(InternalRow.fromSeq(values)).copy()
  }

  test("rows are joined as Spark's generated code does it") {
    for (seed <- 1 to 200) {
      val random = new Random(seed.toLong)
      def schema(columns: Int) = StructType(
        (0 until columns).map(i => StructField(s"c$i", types(random.nextInt(types.size))))
      )
      val (a, b) = (schema(random.nextInt(70)), schema(random.nextInt(70)))
      val joiner = new RowJoiner(a, b)
      val expected = GenerateUnsafeRowJoiner.create(a, b)
      for (_ <- 1 to 3) {
        val (left, right) = (row(a, random), row(b, random))
        assert(joiner.join(left, right) == expected.join(left, right), s"seed $seed: $a $b")
      }
    }
  }
}

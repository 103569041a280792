package io.keyfold.spark

import java.math.{BigDecimal => JavaDecimal}

import scala.util.Random

import org.apache.spark.sql.Row
import org.apache.spark.sql.catalyst.expressions.{UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.catalyst.{CatalystTypeConverters, InternalRow}
import org.apache.spark.sql.types._

/** Rows of all ways in which an `UnsafeRow` holds a column. */
object RandomRows {
  private val struct = new StructType().add("start", LongType).add("name", StringType)
  private val types = Seq(
    LongType,
    IntegerType,
    BooleanType,
    DoubleType,
    StringType,
    BinaryType,
    DecimalType(38, 10),
    DecimalType(10, 2),
    struct,
    ArrayType(IntegerType)
  )

  /** How many columns there are at most: now and then more than a word has bits, which takes
    * Spark's generated code long to compile.
    */
  def columns(seed: Int): Int = if (seed % 10 == 0) 70 else 12

  def schema(columns: Int, random: Random): StructType = StructType(
    (0 until columns).map(i => StructField(s"c$i", types(random.nextInt(types.size))))
  )

  def row(schema: StructType, random: Random): UnsafeRow = {
    val values = schema.map { field =>
      if (random.nextInt(4) == 0) null
      else CatalystTypeConverters.createToCatalystConverter(field.dataType)(valueOf(field, random))
    }
    UnsafeProjection.create(schema)(InternalRow.fromSeq(values)).copy()
  }

  private def valueOf(field: StructField, random: Random): Any = field.dataType match {
    case LongType       => random.nextLong()
    case IntegerType    => random.nextInt()
    case BooleanType    => random.nextBoolean()
    case DoubleType     => random.nextGaussian()
    case StringType     => random.nextString(random.nextInt(20))
    case BinaryType     => random.nextBytes(random.nextInt(20))
    case d: DecimalType =>
      new JavaDecimal(random.nextInt(20000000) - 10000000).setScale(d.scale)
    case _: StructType => Row(random.nextLong(), random.nextString(random.nextInt(5)))
    case _: ArrayType  => Seq.fill(random.nextInt(5))(random.nextInt())
    case other         => throw new IllegalArgumentException(s"no value of $other")
  }
}

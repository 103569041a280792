package io.keyfold.spark.partition

import java.time.{Duration, Instant, LocalDate, LocalDateTime, Period}

import scala.util.Random

import org.apache.spark.sql.Row
import org.apache.spark.sql.catalyst.CatalystTypeConverters
import org.apache.spark.sql.catalyst.expressions.{
  BoundReference,
  CollationAwareMurmur3Hash,
  UnsafeProjection,
  UnsafeRow
}
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.CalendarInterval
import org.scalatest.funsuite.AnyFunSuite

/** Against the hash that Spark's own exchange computes. */
class RowHashSuite extends AnyFunSuite {
  private val struct = new StructType().add("start", TimestampType).add("name", StringType)

  /** A type, and how a value of it is made. */
  private val makers: Seq[(DataType, Random => Any)] = Seq(
    (BooleanType, _.nextBoolean()),
    (ByteType, _.nextInt().toByte),
    (ShortType, _.nextInt().toShort),
    (IntegerType, _.nextInt()),
    (LongType, _.nextLong()),
    (FloatType, float),
    (DoubleType, double),
    (StringType, string),
    (BinaryType, bytes),
    (DateType, random => LocalDate.ofEpochDay(random.nextInt(100000).toLong)),
    (TimestampType, instant),
    (TimestampNTZType, random => LocalDateTime.of(1970, 1, 1, 0, 0).plusSeconds(random.nextInt())),
    (YearMonthIntervalType(), random => Period.ofMonths(random.nextInt(1000))),
    (DayTimeIntervalType(), random => Duration.ofSeconds(random.nextInt().toLong)),
    (DecimalType(9, 2), random => BigDecimal(random.nextInt(10000000) - 5000000, 2)),
    (DecimalType(18, 0), random => BigDecimal(random.nextInt())),
    (DecimalType(38, 10), random => BigDecimal(BigInt(90, random), 10)),
    (NullType, _ => null),
    (
      CalendarIntervalType,
      random => new CalendarInterval(random.nextInt(), random.nextInt(), random.nextLong())
    ),
    (MapType(StringType, LongType), random => Map(string(random) -> random.nextLong())),
    (struct, random => Row(instant(random), string(random))),
    (ArrayType(StringType), random => Seq.fill(random.nextInt(4))(string(random))),
    (
      new StructType().add("nested", struct).add("list", ArrayType(LongType)),
      random => Row(Row(instant(random), null), Seq(random.nextLong()))
    )
  )

  private def float(random: Random): Float =
    Seq(0.0f, -0.0f, Float.NaN, Float.NegativeInfinity, random.nextFloat())(random.nextInt(5))
  private def double(random: Random): Double =
    Seq(0.0, -0.0, Double.NaN, Double.MinValue, random.nextGaussian())(random.nextInt(5))
  private def string(random: Random): String = random.nextString(random.nextInt(20))
  private def bytes(random: Random): Array[Byte] = random.nextBytes(random.nextInt(20))
  private def instant(random: Random): Instant = Instant.ofEpochSecond(random.nextInt().toLong)

  private def rowOf(schema: StructType, values: Seq[Any]): UnsafeRow = {
    val convert = CatalystTypeConverters.createToCatalystConverter(schema)
    UnsafeProjection.create(schema)(convert(Row.fromSeq(values)).asInstanceOf[InternalRow]).copy()
  }

  private def sparkHash(schema: StructType, row: UnsafeRow): Int = {
    val columns = schema.zipWithIndex.map { case (field, i) =>
      BoundReference(i, field.dataType, nullable = true)
    }
    UnsafeProjection.create(Seq(new CollationAwareMurmur3Hash(columns)))(row).getInt(0)
  }

  private def assertSame(types: Seq[(DataType, Random => Any)], random: Random): Unit = {
    val schema = StructType(types.zipWithIndex.map { case ((t, _), i) => StructField(s"c$i", t) })
    val hash = new ColumnsHash(types.map(_._1), 42)
    for (_ <- 1 to 20) {
      val values = types.map { case (_, make) =>
        if (random.nextInt(5) == 0) null else make(random)
      }
      val row = rowOf(schema, values)
      assert(hash(row) == sparkHash(schema, row), s"$schema $values")
    }
  }

  test("each type alone is hashed as Spark hashes it") {
    for (maker <- makers) assertSame(Seq(maker), new Random(1))
  }

  test("columns together are hashed as Spark hashes them") {
    val random = new Random(2)
    for (_ <- 1 to 30) {
      assertSame(Seq.fill(1 + random.nextInt(5))(makers(random.nextInt(makers.size))), random)
    }
  }

  test("a row that lies off the start of its array") {
    val schema = new StructType().add("a", StringType).add("b", struct)
    val row = rowOf(schema, Seq("text", Row(Instant.EPOCH, "x")))
    val shifted = new Array[Byte](row.getSizeInBytes + 24)
    row.writeToMemory(shifted, org.apache.spark.unsafe.Platform.BYTE_ARRAY_OFFSET + 16)
    val there = new UnsafeRow(2)
    there.pointTo(
      shifted,
      org.apache.spark.unsafe.Platform.BYTE_ARRAY_OFFSET + 16L,
      row.getSizeInBytes
    )
    val hash = new ColumnsHash(schema.map(_.dataType), 42)
    assert(hash(there) == sparkHash(schema, row))
  }
}

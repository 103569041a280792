package io.keyfold.spark.encoding

import java.util.Arrays

import scala.util.Random

import io.keyfold.mem.Slice
import io.keyfold.spark.LaterFeatures
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.execution.streaming.state._
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String
import org.scalatest.funsuite.AnyFunSuite

/** Keys as bytes, and their order, against the encoders of Spark's RocksDB provider. */
class KeyCodecSuite extends AnyFunSuite {
  private val long = new StructType().add("v", LongType)
  private val types = Seq(
    ByteType,
    ShortType,
    IntegerType,
    LongType,
    FloatType,
    DoubleType,
    StringType,
    new StructType().add("a", StringType).add("b", LongType),
    NullType
  )

  private def one(random: Random, dataType: DataType): Any =
    if (random.nextInt(5) == 0) null
    else
      dataType match {
        case ByteType    => random.nextInt().toByte
        case ShortType   => pick[Short](random, random.nextInt().toShort, 0, -1, Short.MinValue)
        case IntegerType => pick(random, random.nextInt(), 0, -1, Int.MinValue, Int.MaxValue)
        case LongType    => pick(random, random.nextLong(), 0L, -1L, Long.MinValue, Long.MaxValue)
        case FloatType   =>
          val negativeNaN = java.lang.Float.intBitsToFloat(0xffc00000)
          val some = pick(random, random.nextFloat(), -random.nextFloat() * 1e30f, 0f, -0.0f)
          pick(random, some, Float.NaN, negativeNaN, Float.NegativeInfinity, Float.MinPositiveValue)
        case DoubleType =>
          val some = pick(random, random.nextDouble(), -random.nextDouble() * 1e300, 0d, -0.0)
          pick(random, some, Double.NaN, Double.NegativeInfinity, Double.MaxValue)
        case StringType         => UTF8String.fromString(random.nextString(random.nextInt(12)))
        case struct: StructType =>
          InternalRow.fromSeq(struct.map(field => one(random, field.dataType)))
        case _ => null
      }

  private def pick[T](random: Random, values: T*): T = values(random.nextInt(values.length))

  private def rows(schema: StructType, random: Random, count: Int): Seq[UnsafeRow] = {
    val projection = UnsafeProjection.create(schema)
    Seq.fill(count) {
      val values = schema.map(f =>
        if (f.name == "timestamp") pick(random, random.nextLong(), 0L, -1L, Long.MinValue)
        else one(random, f.dataType)
      )
      projection(InternalRow.fromSeq(values)).copy()
    }
  }

  private def schemaOf(random: Random, columns: Int, types: Seq[DataType]) = StructType(
    (0 until columns).map(i => StructField(s"c$i", types(random.nextInt(types.length))))
  )

  private def sparks(spec: KeyStateEncoderSpec): RocksDBKeyStateEncoder = RocksDBStateEncoder
    .getKeyEncoder(new UnsafeRowDataEncoder(spec, long), spec, useColumnFamilies = true)

  private def assertOrderedAsSpark(spec: KeyStateEncoderSpec, keys: Seq[UnsafeRow]): Unit = {
    val codec = KeyCodec.of(spec)
    val encoder = sparks(spec)
    val encoded = keys.map(key => (codec.encode(key).toArray, encoder.encodeKey(key)))
    for ((a, b) <- encoded.zip(encoded.tail :+ encoded.head)) {
      val expected = Integer.signum(Arrays.compareUnsigned(a._2, b._2))
      assert(Integer.signum(Arrays.compareUnsigned(a._1, b._1)) == expected)
    }
  }

  private def assertComesBack(spec: KeyStateEncoderSpec, keys: Seq[UnsafeRow]): Unit = {
    val codec = KeyCodec.of(spec)
    for (key <- keys) {
      val bytes = codec.encode(key).toArray
      assert(codec.decode(new Slice().set(bytes)) == key, s"$spec")
    }
  }

  private def assertPrefix(spec: KeyStateEncoderSpec, keys: Seq[UnsafeRow], columns: Seq[Int]) = {
    val codec = KeyCodec.of(spec)
    val prefixOf = new RowPicker(spec.keySchema, columns.toArray)
    for (key <- keys) {
      val prefix = codec.encodePrefix(prefixOf.pick(key)).toArray
      assert(codec.encode(key).toArray.startsWith(prefix))
    }
  }

  test("range keys come back, and are in the order that Spark's RocksDB encoder gives them") {
    for (seed <- 1 to 60) {
      val random = new Random(seed.toLong)
      val leading = schemaOf(random, 1 + random.nextInt(3), types.take(6))
      val rest = schemaOf(random, random.nextInt(3), types)
      val all = StructType(random.shuffle(leading.fields.toSeq ++ rest.fields).zipWithIndex.map {
        case (field, i) => field.copy(name = s"k$i")
      })
      val possible = all.indices.filter(i => types.take(6).contains(all(i).dataType))
      val ordinals = random.shuffle(possible).take(leading.length)
      val spec = RangeKeyScanStateEncoderSpec(all, ordinals)
      val keys = rows(all, random, 60)
      withClue(s"seed $seed: $all by $ordinals: ") {
        assertComesBack(spec, keys)
        assertOrderedAsSpark(spec, keys)
        assertPrefix(spec, keys, ordinals)
      }
    }
  }

  test("a float of any sign and kind is where Spark has it; nulls are last") {
    val schema = new StructType().add("f", FloatType).add("d", DoubleType)
    val negativeNaN = java.lang.Float.intBitsToFloat(0xffc00001)
    val some = Seq(0f, -0.0f, 1f, -1f, Float.NaN, negativeNaN, Float.MinValue)
    val floats = some ++ Seq(Float.PositiveInfinity, Float.NegativeInfinity)
    val values: Seq[Any] = floats :+ null
    val doubles: Seq[Any] = floats.map(_.toDouble) :+ null
    val projection = UnsafeProjection.create(schema)
    val keys = for (f <- values; d <- doubles) yield projection(InternalRow(f, d)).copy()
    for (ordinals <- Seq(Seq(0, 1), Seq(1), Seq(1, 0))) {
      val spec = RangeKeyScanStateEncoderSpec(schema, ordinals)
      assertComesBack(spec, keys)
      for (key <- keys) assertOrderedAsSpark(spec, key +: keys)
    }
  }

  test("what a row has in a column's word beyond its value is not part of the key") {
    val key = UnsafeRow.createFromByteArray(24, 2)
    for (column <- 0 to 1) key.setLong(column, -1L)
    key.setBoolean(0, true)
    key.setShort(1, 7)
    val schema = new StructType().add("b", BooleanType).add("s", ShortType)
    val codec = KeyCodec.of(RangeKeyScanStateEncoderSpec(schema, Seq(0, 1)))
    assert(codec.encode(key).toArray.take(5).toSeq == Seq[Byte](1, 1, 1, 0, 7))
  }

  test("keys with a timestamp ahead or behind come back, in Spark's order") {
    for (seed <- 1 to 30) {
      val random = new Random(seed.toLong)
      val columns = schemaOf(random, random.nextInt(3), types)
      val schema = columns.add("timestamp", LongType, nullable = false)
      val keys = rows(schema, random, 40)
      val specs = LaterFeatures.timestampSpecs(schema)
      assume(specs.nonEmpty, "Keys have timestamps since Spark 4.2")
      val (ahead, behind) = specs.get
      for (spec <- Seq(ahead, behind)) {
        assertComesBack(spec, keys)
        assertOrderedAsSpark(spec, keys)
      }
      assertPrefix(behind, keys, columns.indices)
      val error =
        intercept[UnsupportedOperationException](KeyCodec.of(ahead).encodePrefix(keys.head))
      assert(error.getMessage.contains("prefixScan"))
    }
  }

  test("prefix keys come back, and start with their prefix") {
    for (seed <- 1 to 30) {
      val random = new Random(seed.toLong)
      val schema = schemaOf(random, 2 + random.nextInt(4), types)
      val columns = 1 + random.nextInt(schema.length - 1)
      val spec = PrefixKeyScanStateEncoderSpec(schema, columns)
      val keys = rows(schema, random, 40)
      assertComesBack(spec, keys)
      assertPrefix(spec, keys, 0 until columns)
    }
  }

  test("keys without columns or with nothing in them come back") {
    val nothing = new StructType().add("n", NullType)
    for (schema <- Seq(new StructType, nothing, nothing.add("m", NullType))) {
      val keys = rows(schema, new Random(1), 1)
      assertComesBack(NoPrefixKeyStateEncoderSpec(schema), keys)
    }
    assert(
      KeyCodec.of(NoPrefixKeyStateEncoderSpec(new StructType)).encode(new UnsafeRow(0)).length == 0
    )
  }

  test("the bytes are those of docs/FORMAT.md, section 5") {
    def hex(codec: KeyCodec, key: UnsafeRow) =
      codec.encode(key).toArray.map(b => f"${b & 0xff}%02x").mkString
    val schema = new StructType().add("i", IntegerType).add("f", FloatType).add("l", LongType)
    val key = UnsafeProjection.create(schema)(InternalRow(-2, -1.5f, 3L)).copy()
    val rest = "0000000000000000" + "0300000000000000"
    val range = KeyCodec.of(RangeKeyScanStateEncoderSpec(schema, Seq(0, 1)))
    assert(hex(range, key) == "00fffffffe" + "00403fffff" + rest)
    val nulls = UnsafeProjection.create(schema)(InternalRow(null, 1.5f, 3L)).copy()
    assert(hex(range, nulls) == "0200000000" + "013fc00000" + rest)
    val first = "0000000000000000" + "feffffff00000000" + "0000c0bf00000000"
    val timestamp = "8000000000000003"
    for ((ahead, behind) <- LaterFeatures.timestampSpecs(schema)) {
      assert(hex(KeyCodec.of(ahead), key) == timestamp + first)
      assert(hex(KeyCodec.of(behind), key) == first + timestamp)
    }
  }
}

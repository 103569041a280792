package io.keyfold.spark

import org.apache.spark.sql.catalyst.expressions.{
  BoundReference,
  Expression,
  Literal,
  Murmur3Hash,
  Pmod,
  UnsafeProjection,
  UnsafeRow
}
import org.apache.spark.sql.catalyst.plans.physical.HashPartitioning
import org.apache.spark.sql.catalyst.{CatalystTypeConverters, InternalRow}
import org.apache.spark.sql.execution.streaming.state._
import org.apache.spark.sql.types._
import org.scalatest.funsuite.AnyFunSuite

/** Where a row belongs, against Spark's own partitioning of the operator's input. */
class PartitionKeySuite extends AnyFunSuite {
  private val long = new StructType().add("v", LongType)
  private val key = new StructType()
    .add("text", StringType)
    .add("pair", new StructType().add("start", TimestampType).add("end", TimestampType))
    .add("number", DoubleType)
    .add("amount", DecimalType(20, 2))
    .add("bytes", BinaryType)
    .add("nothing", NullType)

  private def row(values: Any*): UnsafeRow = {
    val internal = InternalRow.fromSeq(values.map(CatalystTypeConverters.convertToCatalyst))
    UnsafeProjection.create(key)(internal).copy()
  }

  private val rows = Seq(
    row("a", InternalRow(1L, 2L), -0.0, BigDecimal("12.50"), Array[Byte](1, 2), null),
    row("", InternalRow(-1L, null), 1e300, BigDecimal("-0.01"), Array.emptyByteArray, null),
    row(null, null, Double.NaN, null, null, null)
  )

  private def columns(n: Int): Seq[Expression] =
    key.fields.take(n).toSeq.zipWithIndex.map { case (field, i) =>
      BoundReference(i, field.dataType, nullable = true)
    }

  /** Partition that Spark's exchange sends a row to. */
  private def sparkPartition(row: UnsafeRow, clusteredBy: Int, partitions: Int): Int = {
    val id = HashPartitioning(columns(clusteredBy), partitions).partitionIdExpression
    UnsafeProjection.create(Seq(id))(row).getInt(0)
  }

  private def assertPlaced(rule: PartitionKey, clusteredBy: Int): Unit = {
    val hash = rule.newHash()
    for (row <- rows; partitions <- Seq(1, 2, 7, 200)) {
      val expected = sparkPartition(row, clusteredBy, partitions)
      assert(Math.floorMod(hash(row), partitions) == expected)
    }
  }

  private def rule(store: String, key: StructType, value: StructType, spec: KeyStateEncoderSpec) =
    PartitionKey.of(store, key, value, spec)

  test("aggregation, deduplication, mapGroupsWithState: all columns of the key") {
    val all = rule("default", key, long, NoPrefixKeyStateEncoderSpec(key))
    assert(all.name == "all")
    assertPlaced(all, key.length)
  }

  test("session window: the columns of the prefix, without the session's start") {
    val first = rule("default", key, long, PrefixKeyScanStateEncoderSpec(key, 3))
    assert(first.name == "first:3")
    assertPlaced(first, 3)
  }

  test("stream-stream join: the join key, without the index of the value") {
    for (side <- Seq("left", "right")) {
      val spec = NoPrefixKeyStateEncoderSpec(key)
      assert(rule(s"$side-keyToNumValues", key, long, spec).name == "all")
      val indexed = rule(s"$side-keyWithIndexToValue", key, long, spec)
      assert(indexed.name == s"first:${key.length - 1}")
      assertPlaced(indexed, key.length - 1)
    }
  }

  test("aggregation without keys and global limit: partition 0, always") {
    val none = new StructType
    val limit = new StructType().add("key", NullType)
    for (schema <- Seq(none, limit)) {
      val constant = rule("default", schema, long, NoPrefixKeyStateEncoderSpec(schema))
      assert(constant.name == "constant")
      val row = UnsafeProjection.create(schema)(InternalRow.fromSeq(schema.map(_ => null)))
      assert(constant.newHash()(row) == 0)
    }
  }

  test("deduplication by one column of null type is partitioned as any other") {
    val nothing = new StructType().add("key", NullType)
    val dedup = rule("default", nothing, nothing, NoPrefixKeyStateEncoderSpec(nothing))
    assert(dedup.name == "all")
    val row = UnsafeProjection.create(nothing)(InternalRow(null))
    val exchange = Pmod(new Murmur3Hash(Seq(BoundReference(0, NullType, true))), Literal(7))
    val expected = UnsafeProjection.create(Seq(exchange))(row).getInt(0)
    assert(Math.floorMod(dedup.newHash()(row), 7) == expected)
  }

  test("a store of unknown name has no rule") {
    assert(rule("mine", key, long, NoPrefixKeyStateEncoderSpec(key)).name == "none")
  }
}

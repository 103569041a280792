package io.keyfold.spark.partition

import io.keyfold.spark.LaterFeatures
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
import org.apache.spark.sql.keyfold.SparkShim.StateVariableType
import org.apache.spark.sql.types._
import org.scalatest.funsuite.AnyFunSuite

/** Where a row belongs, against Spark's own partitioning of the operator's input. */
class PartitionKeySuite extends AnyFunSuite {
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

  private def rule(store: String, spec: KeyStateEncoderSpec, isLimit: Boolean = false) =
    PartitionKey.of(store, "default", spec)(isLimit, _ => false)

  /** The rule of a family of a store in which `m` is the only map. */
  private def familyRule(family: String, spec: KeyStateEncoderSpec) =
    PartitionKey.of("default", family, spec)(isLimit = false, _ == "m")

  test("aggregation, deduplication, mapGroupsWithState: all columns of the key") {
    val all = rule("default", NoPrefixKeyStateEncoderSpec(key))
    assert(all.name == "all")
    assertPlaced(all, key.length)
  }

  test("session window: the columns of the prefix, without the session's start") {
    val first = rule("default", PrefixKeyScanStateEncoderSpec(key, 3))
    assert(first.name == "first:3")
    assertPlaced(first, 3)
  }

  test("stream-stream join: the join key, without the index of the value") {
    for (side <- Seq("left", "right")) {
      val spec = NoPrefixKeyStateEncoderSpec(key)
      assert(rule(s"$side-keyToNumValues", spec).name == "all")
      val indexed = NoPrefixKeyStateEncoderSpec(key.add("index", LongType))
      val byIndex = rule(s"$side-keyWithIndexToValue", indexed)
      assert(byIndex.name == s"first:${key.length}")
      assertPlaced(byIndex, key.length)
      assert(familyRule(s"$side-keyToNumValues", spec).name == "all")
      val timed =
        LaterFeatures.timestampSpecs(indexed.keySchema).toSeq.flatMap { case (ahead, behind) =>
          Seq(s"$side-keyWithTsToValues" -> behind, s"$side-tsWithKey" -> ahead)
        }
      for ((family, spec) <- (s"$side-keyWithIndexToValue" -> indexed) +: timed) {
        assert(familyRule(family, spec).name == s"first:${key.length}")
        assertPlaced(familyRule(family, spec), key.length)
      }
    }
  }

  /** Partition of a state key by Spark's own extractor of partition keys, where there is one. */
  private def extracted(
      family: String,
      key: StructType,
      row: UnsafeRow,
      kind: Enumeration#Value,
      ttl: Boolean
  ): Option[Int] =
    LaterFeatures.extractedKey(family, key, row, kind, ttl).map { case (schema, extracted) =>
      val columns = schema.fields.toSeq.zipWithIndex.map { case (field, i) =>
        BoundReference(i, field.dataType, nullable = true)
      }
      val id = HashPartitioning(columns, 7).partitionIdExpression
      UnsafeProjection.create(Seq(id))(extracted).getInt(0)
    }

  private def assertExtracted(
      family: String,
      spec: KeyStateEncoderSpec,
      kind: Enumeration#Value,
      ttl: Boolean,
      name: String
  )(values: UnsafeRow => Seq[Any]): Unit = {
    val rule = familyRule(family, spec)
    assert(rule.name == name)
    for (row <- rows) {
      val projection = UnsafeProjection.create(spec.keySchema)
      val stateKey = projection(InternalRow.fromSeq(values(row))).copy()
      val expected = sparkPartition(row, clusteredBy = key.length, partitions = 7)
      assert(Math.floorMod(rule.newHash()(stateKey), 7) == expected)
      assert(extracted(family, spec.keySchema, stateKey, kind, ttl).forall(_ == expected))
    }
  }

  private val userKey = new StructType().add("value", StringType)
  private val mapKey = new StructType().add("key", key).add("userKey", userKey)
  private val text = InternalRow(org.apache.spark.unsafe.types.UTF8String.fromString("u"))
  private val expiry = "expirationMs"

  test("transformWithState: map state by its first field, its TTL index by that of its element") {
    val map = PrefixKeyScanStateEncoderSpec(mapKey, 1)
    assertExtracted("m", map, StateVariableType.MapState, false, "first:1")(Seq(_, text))
    val ttl = new StructType().add(expiry, LongType).add("elementKey", mapKey)
    val index = RangeKeyScanStateEncoderSpec(ttl, Seq(0))
    assertExtracted("$ttl_m", index, StateVariableType.MapState, true, "path:1.0") { row =>
      Seq(1L, InternalRow(row, text))
    }
  }

  test("transformWithState: value and list state by the whole key, in their indexes too") {
    val whole = NoPrefixKeyStateEncoderSpec(key)
    def values(row: UnsafeRow) = row.toSeq(key)
    for (kind <- Seq(StateVariableType.ValueState, StateVariableType.ListState)) {
      assertExtracted("s", whole, kind, false, "all")(values)
      for (index <- Seq("$min_s", "$count_s"))
        assertExtracted(index, whole, kind, true, "all")(values)
      val ttl = new StructType().add(expiry, LongType).add("elementKey", key)
      val spec = RangeKeyScanStateEncoderSpec(ttl, Seq(0))
      assertExtracted("$ttl_s", spec, kind, true, "path:1")(Seq(1L, _))
    }
    assert(familyRule("$rowCounter_s", whole).name == "all")
  }

  test("transformWithState: a grouping key that looks like a map's is no map") {
    val ttl = new StructType().add(expiry, LongType).add("elementKey", mapKey)
    val spec = RangeKeyScanStateEncoderSpec(ttl, Seq(0))
    assert(familyRule("$ttl_s", spec).name == "path:1")
  }

  test("transformWithState: timers by the key, whichever way round they are") {
    for (mode <- Seq("$procTimers", "$eventTimers")) {
      val byKey = new StructType().add("key", key).add("expiryTimestampMs", LongType)
      val byTime = new StructType().add("expiryTimestampMs", LongType).add("key", key)
      val primary = PrefixKeyScanStateEncoderSpec(byKey, 1)
      val second = RangeKeyScanStateEncoderSpec(byTime, Seq(0))
      val timer = StateVariableType.TimerState
      assertExtracted(s"${mode}_keyToTimestamp", primary, timer, false, "first:1")(Seq(_, 5L))
      assertExtracted(s"${mode}_timestampToKey", second, timer, false, "path:1")(Seq(5L, _))
    }
  }

  test("aggregation without keys and global limit: partition 0, always") {
    val none = NoPrefixKeyStateEncoderSpec(new StructType)
    val limit = NoPrefixKeyStateEncoderSpec(nothing)
    for (constant <- Seq(rule("default", none), rule("default", limit, isLimit = true))) {
      assert(constant.name == "constant")
      assert(constant.newHash()(nothingRow) == 0)
    }
  }

  private val nothing = new StructType().add("key", NullType)
  private def nothingRow = UnsafeProjection.create(nothing)(InternalRow(null))

  test("aggregation and deduplication by one column of null type are partitioned as any other") {
    val other = rule("default", NoPrefixKeyStateEncoderSpec(nothing))
    assert(other.name == "all")
    val exchange = Pmod(new Murmur3Hash(Seq(BoundReference(0, NullType, true))), Literal(7))
    val expected = UnsafeProjection.create(Seq(exchange))(nothingRow).getInt(0)
    assert(Math.floorMod(other.newHash()(nothingRow), 7) == expected)
  }

  test("a store of unknown name has no rule") {
    assert(rule("mine", NoPrefixKeyStateEncoderSpec(key)).name == "none")
  }
}

package io.keyfold.spark.state

import java.util.concurrent.{Callable, Executors}

import scala.jdk.CollectionConverters._

import io.keyfold.spark.ProviderFixture.{keySchema, valueSchema}
import io.keyfold.spark.partition.PartitionKey
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.execution.streaming.state.{
  NoPrefixKeyStateEncoderSpec,
  TestStateSchemaProvider
}
import org.apache.spark.unsafe.types.UTF8String
import org.scalatest.funsuite.AnyFunSuite

/** Stores of one provider in several threads at once, as an attempt that still runs beside its
  * successor.
  */
class AvroThreadsSuite extends AnyFunSuite {
  test("threads that encode keys and values of one family at once do not meet") {
    val described = FamilyDescription(
      "default",
      NoPrefixKeyStateEncoderSpec(keySchema),
      valueSchema,
      multiValue = false,
      internal = false
    )
    val schemas = new TestStateSchemaProvider
    schemas.captureSchema("default", keySchema, valueSchema)
    val family =
      new FamilySchema(
        described,
        Some(schemas),
        PartitionKey("all", keySchema),
        false,
        (_, _) => ()
      )

    def others(thread: Int): Callable[Int] = () => {
      val (keys, values) = (family.newKeys(), family.newValues())
      val (keyOf, valueOf) =
        (UnsafeProjection.create(keySchema), UnsafeProjection.create(valueSchema))
      (0 until 20000).count { n =>
        val key = keyOf(InternalRow(UTF8String.fromString(s"thread $thread"), n.toLong))
        val value = valueOf(InternalRow(n * 10L + thread))
        val keyRead = keys.decode(keys.encode(key))
        val valueRead = values.decode(values.encode(value), null)
        keyRead != key || valueRead != value
      }
    }
    val pool = Executors.newFixedThreadPool(4)
    try {
      val found = pool.invokeAll((0 until 4).map(others).asJava).asScala.map(_.get)
      assert(found.sum == 0)
    } finally {
      pool.shutdownNow()
      ()
    }
  }
}

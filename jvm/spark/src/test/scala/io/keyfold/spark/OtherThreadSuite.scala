package io.keyfold.spark

import io.keyfold.spark.encoding.RowPicker
import io.keyfold.testkit.Running
import org.apache.spark.sql.execution.streaming.state._
import org.apache.spark.sql.types.StructType
import org.scalatest.funsuite.AnyFunSuite

/** Stores that another thread uses than the task's, as Spark's does that serves state to Python,
  * and iterators that are closed early, as Spark's map state does to see whether there is a row.
  */
class OtherThreadSuite extends AnyFunSuite {
  import ProviderFixture._

  private def elsewhere[T](body: => T): T = new Running(body).result()

  private def prefixScans(schema: StructType) = PrefixKeyScanStateEncoderSpec(schema, 1)

  /** A store of which version 1 has rows `k`, 0 to 999. */
  private def withStore(body: (ProviderFixture, StateStore) => Any): Any = inFolder() { fixture =>
    val provider = fixture.provider(spec = prefixScans)
    try {
      val first = provider.getStore(0)
      for (n <- 0 until 1000) first.put(fixture.key("k", n.toLong), fixture.value(n.toLong))
      first.commit()
      body(fixture, provider.getStore(1))
    } finally provider.close()
  }

  test("a thread that is not waited for is refused once the task has ended, and keeps its rows") {
    withStore { (fixture, store) =>
      val prefix = fixture.key("k", 0L)
      val (row, pairs) = elsewhere {
        store.put(fixture.key("k", 1000L), fixture.value(1000L))
        val pairs = store.iterator()
        assert(pairs.hasNext)
        (store.get(fixture.key("k", 7L)), pairs)
      }
      store.release()
      elsewhere {
        assert(row.getLong(0) == 7)
        assert(pairs.next().value.getLong(0) < 1001)
        intercept[Exception](while (pairs.hasNext) pairs.next())
        intercept[Exception](store.get(prefix))
        intercept[Exception](store.put(prefix, fixture.value(1L)))
        intercept[Exception](store.remove(prefix))
        intercept[Exception](store.iterator())
        intercept[Exception](store.keyExists(prefix))
      }
    }
  }

  test("iterators that are closed early keep no more memory than those that are gone through") {
    def bytesAfter(end: Iterator[UnsafeRowPair] with java.io.Closeable => Unit): Long = {
      var bytes = 0L
      withStore { (fixture, store) =>
        val prefixOf = new RowPicker(keySchema, Array(0))
        for (n <- 1 to 20000) {
          val pairs = store.prefixScan(prefixOf.pick(fixture.key("k", 0L)))
          assert(pairs.hasNext)
          end(pairs)
          store.put(fixture.key("other", (n % 50).toLong), fixture.value(n.toLong))
        }
        bytes = store.metrics.customMetrics.collectFirst {
          case (metric, value) if metric.name == "keyfoldOffHeapBytes" => value
        }.get
        store.abort()
      }
      bytes
    }
    assert(bytesAfter(_.close()) <= bytesAfter(pairs => pairs.foreach(_ => ())))
  }
}

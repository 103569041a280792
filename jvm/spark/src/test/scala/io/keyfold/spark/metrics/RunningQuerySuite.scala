package io.keyfold.spark.metrics

import com.codahale.metrics.MetricRegistry
import io.keyfold.spark.state.StoreStatus
import org.scalatest.funsuite.AnyFunSuite

class RunningQuerySuite extends AnyFunSuite {
  private def store(partition: Int, version: Long, rows: Long) =
    StoreStatus("run", 0, partition, "default", version, rows, 0, 0, 0, 0, 0, 1)

  private def found(query: RunningQuery) =
    query.stores.map { case (executor, it) => (it.partition, executor, it.version) }.sorted

  test("a report takes the place of the executor's last one") {
    val query = new RunningQuery("id", "q", new MetricRegistry)
    query.add("1", Seq(store(0, 5, 10), store(1, 5, 10)))
    query.add("2", Seq(store(2, 5, 10)))
    query.add("1", Seq(store(1, 6, 10)))
    assert(found(query) == Seq((1, "1", 6), (2, "2", 5)))
    query.add("1", Nil)
    assert(found(query) == Seq((2, "2", 5)))
  }

  test("a store that has moved counts where its newest version is, whoever reports last") {
    val query = new RunningQuery("id", "q", new MetricRegistry)
    query.add("1", Seq(store(0, 5, 10)))
    query.add("2", Seq(store(0, 6, 11)))
    assert(found(query) == Seq((0, "2", 6)))
    query.add("1", Seq(store(0, 5, 10)))
    assert(found(query) == Seq((0, "2", 6)))
  }

  test("what an executor reports arrives as it was sent") {
    val report = ExecutorReport("7", Map("a" -> 0.1, "b" -> 1e12), Seq(store(3, 1L << 40, 2)))
    assert(ExecutorReport.of(report.text) == report)
  }

  test("a load reads as many files as that of the operator's store with the most") {
    val files = QueryMetrics.ofStores.find(_.name == "load_files_max").get
    assert(files.of(Seq(store(0, 9, 1), store(1, 9, 1).copy(filesToLoad = 3))) == 3)
  }

  test("a gauge that goes keeps its last value for who reads it meanwhile") {
    val registry = new MetricRegistry
    val gauges = new Gauges(registry, "a.")
    gauges.set(Map("x" -> 1.0, "y" -> 2.0))
    val read = registry.getGauges.get("a.x")
    gauges.set(Map("y" -> 3.0, "z" -> 4.0))
    assert(read.getValue == 1.0)
    assert(registry.getGauges.get("a.y").getValue == 3.0)
    assert(registry.getGauges.keySet == java.util.Set.of("a.y", "a.z"))
  }

  test("a partition's rows are those of all its stores") {
    val counts = store(0, 1, 9).copy(store = "right-keyToNumValues")
    val stores = Seq(store(0, 1, 3), store(0, 1, 4).copy(store = "right"), store(1, 1, 5), counts)
    assert(QueryMetrics.rowsOf(stores) == Map(0 -> 7.0, 1 -> 5.0))
    val values = QueryMetrics.ofStores.map(it => it.name -> it.of(stores)).toMap
    assert(values("partition_rows_max") == 7)
    assert(values("partition_rows_mean") == 6)
    // As when an executor is lost that has the others.
    assert(QueryMetrics.ofStores.map(_.of(Seq(counts))) == Seq(1, 0, 0, 0, 1))
  }
}

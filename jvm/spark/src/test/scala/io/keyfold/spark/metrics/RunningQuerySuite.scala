package io.keyfold.spark.metrics

import com.codahale.metrics.MetricRegistry
import org.scalatest.funsuite.AnyFunSuite

class RunningQuerySuite extends AnyFunSuite {
  private def store(partition: Int, version: Long, rows: Long) =
    ReportedStore("run", 0, partition, "default", version, rows, 0, 0, 0, 0, 0, -1, 0)

  private def found(query: RunningQuery) =
    query.stores.map { case (executor, it) => (it.partition, executor, it.version) }.sorted

  test("a report takes the place of the executor's last one") {
    val query = new RunningQuery("q", new MetricRegistry)
    query.add("1", Seq(store(0, 5, 10), store(1, 5, 10)))
    query.add("2", Seq(store(2, 5, 10)))
    query.add("1", Seq(store(1, 6, 10)))
    assert(found(query) == Seq((1, "1", 6), (2, "2", 5)))
    query.add("1", Nil)
    assert(found(query) == Seq((2, "2", 5)))
  }

  test("a store that has moved counts where its newest version is, whoever reports last") {
    val query = new RunningQuery("q", new MetricRegistry)
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

  test("a snapshot is as old as the oldest of the operator's stores") {
    val ages = QueryMetrics.ofStores.find(_.name == "snapshot_age_batches").get
    val stores = Seq(store(0, 9, 1).copy(snapshotVersion = 8), store(1, 9, 1))
    assert(ages.of(stores.take(1)) == 1)
    assert(ages.of(stores) == 9)
  }

  test("a partition's rows are those of all its stores") {
    val stores = Seq(store(0, 1, 3), store(0, 1, 4).copy(store = "right"), store(1, 1, 5))
    assert(QueryMetrics.rowsOf(stores) == Map(0 -> 7.0, 1 -> 5.0))
    val values = QueryMetrics.ofStores.map(it => it.name -> it.of(stores)).toMap
    assert(values("partition_rows_max") == 7)
    assert(values("partition_rows_mean") == 6)
  }
}

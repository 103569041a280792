package io.keyfold.spark.metrics

import scala.xml.Node

import io.keyfold.spark.state.StoreStatus
import org.apache.spark.sql.streaming.StateOperatorProgress

/** The tab "State" of Spark's UI: executors, operators and partitions as they are now. */
private[metrics] final class StatePage(application: Application) {
  import StatePage._

  def content: Seq[Node] = {
    val queries = application.queries
    val none = "No query with its state in Keyfold has finished a batch yet."
    Seq(<h4>Executors</h4>, executors.html(application.executors.sortBy(_.executor))) ++
      (if (queries.isEmpty) Seq(<p>{none}</p>) else queries.flatMap(query))
  }
}

private object StatePage {
  private val executors = {
    def count(name: String)(of: ExecutorReport) = of.metrics(name).toLong
    def ms(name: String)(of: ExecutorReport) = of.metrics(name) * 1000
    new SortableTable[ExecutorReport]
      .text("Executor", _.executor)
      .bytes("Memory", count("memory_used_bytes"))
      .bytes("Memory budget", count("memory_budget_bytes"))
      .bytes("On local disk", count("spilled_bytes"))
      .number("Stores", count("stores"))
      .number("Rows", count("state_rows"))
      .milliseconds("Commit of a store, median", ms("commit_seconds_p50"))
      .milliseconds("99 of 100 within", ms("commit_seconds_p99"))
      .milliseconds("Load of a store, median", ms("load_seconds_p50"))
      .bytes("Written", count("written_bytes_total"))
      .number("File retries", count("file_retries_total"))
  }

  private def query(query: QueryState): Seq[Node] = Seq(
    <h4>{s"Query ${query.label}, batch ${query.last.batchId}"}</h4>,
    operators(query),
    <p>Partitions as of their last commit, those with the most rows first:</p>,
    partitions.html(query.stores.sortBy(-_._2.rows))
  )

  private def operators(query: QueryState) = {
    val stores = query.stores.map(_._2).groupBy(_.operator)
    def largest(operator: Int) =
      QueryMetrics.mostRows(stores.getOrElse(operator.toLong, Nil)).toLong
    new SortableTable[(StateOperatorProgress, Int)]
      .number("Operator", _._2.toLong)
      .text("Name", _._1.operatorName)
      .number("Partitions", _._1.numShufflePartitions)
      .number("Rows", _._1.numRowsTotal)
      .number("Rows of the largest partition", it => largest(it._2))
      .number("Rows put", _._1.numRowsUpdated)
      .number("Rows removed", _._1.numRowsRemoved)
      .milliseconds("Commits, sum of all tasks", _._1.commitTimeMs.toDouble)
      .html(query.last.stateOperators.toSeq.zipWithIndex)
  }

  private val partitions = new SortableTable[(String, StoreStatus)]
    .number("Operator", _._2.operator)
    .number("Partition", _._2.partition.toLong)
    .text("Store", _._2.store)
    .text("Executor", _._1)
    .number("Version", _._2.version)
    .number("Files of a load", _._2.filesToLoad.toLong)
    .number("Rows", _._2.rows)
    .bytes("State", _._2.stateBytes)
    .bytes("Memory", _._2.memoryBytes)
    .bytes("On local disk", _._2.spilledBytes)
    .milliseconds("Last commit", _._2.commitMs.toDouble)
}

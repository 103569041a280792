package io.keyfold.spark

import java.nio.file.{Files, Path}

import io.keyfold.spark.metrics.{ExecutorMetrics, Metric, QueryMetrics}
import io.keyfold.spark.state.KeyfoldMetrics

/** The tables of `docs/metrics.md`, generated from the metrics: `make docs`. */
object MetricsPage {
  val path: Path = Path.of("docs", "metrics.md")
  private val Begin = "<!-- begin of what `make docs` writes -->\n"
  private val End = "<!-- end of what `make docs` writes -->\n"

  /** The page as it is, with its tables as they should be. */
  def text: String = {
    val page = Files.readString(path)
    val (before, rest) = page.splitAt(page.indexOf(Begin) + Begin.length)
    before + tables + rest.substring(rest.indexOf(End))
  }

  private def tables = Seq(
    "### Of an executor",
    table("keyfold_executor_", ExecutorMetrics.all),
    "### Of a query",
    table("keyfold_query_", QueryMetrics.ofQuery),
    "### Of an operator",
    table("keyfold_operator_", QueryMetrics.ofOperator),
    "From the reports of executors:",
    table("keyfold_operator_", QueryMetrics.ofStores),
    "### In the progress of a query",
    "`customMetrics` of each of its `stateOperators`, without the plugin:",
    rows(KeyfoldMetrics.custom.map(it => it.name -> it.desc.stripPrefix("Keyfold: ")))
  ).mkString("\n", "\n\n", "\n\n")

  private def table(prefix: String, metrics: Seq[Metric[_]]) =
    rows(metrics.map(it => s"$prefix${it.name}" -> it.doc))

  private def rows(metrics: Seq[(String, String)]) =
    ("| metric | what it is |\n|---|---|" +:
      metrics.map { case (name, doc) => s"| `$name` | $doc |" }).mkString("\n")

  def main(args: Array[String]): Unit = {
    Files.writeString(path, text)
    ()
  }
}

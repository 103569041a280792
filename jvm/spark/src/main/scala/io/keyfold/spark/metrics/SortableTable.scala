package io.keyfold.spark.metrics

import scala.xml.Node

/** An HTML table that Spark's UI sorts by the column that is clicked. */
private[metrics] final class SortableTable[T] private (columns: Seq[SortableTable.Column[T]]) {
  import SortableTable._

  def this() = this(Nil)

  def text(title: String, of: T => String): SortableTable[T] =
    and(title, of, of)

  def number(title: String, of: T => Long): SortableTable[T] =
    and(title, row => f"${of(row)}%,d", of(_).toString)

  def milliseconds(title: String, of: T => Double): SortableTable[T] =
    and(title, row => f"${of(row)}%,.0f ms", of(_).toString)

  def bytes(title: String, of: T => Long): SortableTable[T] =
    and(title, row => inUnit(of(row)), of(_).toString)

  def html(rows: Seq[T]): Node =
    <table class="table table-bordered table-sm table-striped sortable">
      <thead><tr>{columns.map(it => <th>{it.title}</th>)}</tr></thead>
      <tbody>{rows.map(row => <tr>{columns.map(cell(_, row))}</tr>)}</tbody>
    </table>

  private def and(title: String, shown: T => String, key: T => String) =
    new SortableTable(columns :+ Column(title, shown, key))

  private def cell(column: Column[T], row: T) =
    <td sorttable_customkey={column.key(row)}>{column.shown(row)}</td>
}

private object SortableTable {

  /** @param key
    *   what rows are sorted by
    */
  private final case class Column[T](title: String, shown: T => String, key: T => String)

  private def inUnit(bytes: Long) =
    Seq("GiB" -> 30, "MiB" -> 20, "KiB" -> 10)
      .collectFirst {
        case (unit, bits) if bytes >> bits > 0 =>
          f"${bytes.toDouble / (1L << bits)}%.1f $unit"
      }
      .getOrElse(s"$bytes B")
}

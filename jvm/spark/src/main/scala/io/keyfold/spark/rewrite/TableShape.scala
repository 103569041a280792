package io.keyfold.spark.rewrite

import org.apache.spark.sql.types.{BooleanType, StructType}

/** What the rows of a table are, of which columns: those that Spark's `statestore` source has, and
  * `matched` of a join.
  *
  * @param isList
  *   whether a key may have several rows, whose order counts
  * @param value
  *   name of the column with the fields of a value
  */
private[rewrite] sealed abstract class TableShape(val isList: Boolean, value: String = "value")
    extends Serializable {

  /** Columns that name a row, or all rows of a key.
    *
    * @param keys
    *   of the family that has the rows
    */
  def keyColumns(keys: StructType): Seq[TableColumn] = Seq(TableColumn.struct("key", keys, 0))

  /** The other columns.
    *
    * @param values
    *   of the family that has the rows
    * @param from
    *   number of fields of its keys
    */
  def valueColumns(values: StructType, from: Int): Seq[TableColumn] =
    Seq(TableColumn.struct(value, values, from))
}

private[rewrite] object TableShape {
  import TableColumn.field

  /** A row for each key. */
  case object Rows extends TableShape(isList = false)

  /** The entries of transformWithState's maps. */
  case object Entries extends TableShape(isList = false, "user_map_value") {
    override def keyColumns(keys: StructType): Seq[TableColumn] =
      Seq(field("key", keys(0), 0), field("user_map_key", keys(1), 1))
  }

  /** The elements of transformWithState's lists. */
  case object Elements extends TableShape(isList = true, "list_element")

  /** transformWithState's timers. */
  case object Timers extends TableShape(isList = false) {
    override def keyColumns(keys: StructType): Seq[TableColumn] =
      Seq(field("key", keys(0), 0), field("expiration_timestamp_ms", keys(1), 1))

    override def valueColumns(values: StructType, from: Int): Seq[TableColumn] = Nil
  }

  /** The rows of a side of a join. Since state format 2 they have whether a partner was found: an
    * outer join returns the others without one when it removes them.
    */
  case object Side extends TableShape(isList = true) {
    override def keyColumns(keys: StructType): Seq[TableColumn] =
      super.keyColumns(StructType(keys.dropRight(1)))

    override def valueColumns(values: StructType, from: Int): Seq[TableColumn] =
      values.lastOption match {
        case Some(last) if last.name == "matched" && last.dataType == BooleanType =>
          super.valueColumns(StructType(values.init), from) :+
            field("matched", last, from + values.length - 1)
        case _ => super.valueColumns(values, from)
      }
  }
}

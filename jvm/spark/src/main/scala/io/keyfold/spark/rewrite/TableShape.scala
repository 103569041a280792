package io.keyfold.spark.rewrite

import org.apache.spark.sql.types.{BooleanType, DataType, LongType, StructField, StructType}

/** What the rows of a table are, of which columns: those that Spark's `statestore` source has, and
  * `matched` of a join.
  */
private[rewrite] sealed trait TableShape extends Serializable {
  import TableShape.named

  /** Whether a key may have several rows, whose order counts. */
  def isList: Boolean = false

  /** Columns that name a row, or all rows of a key.
    *
    * @param keys
    *   of the family that has the rows
    */
  def keyColumns(keys: StructType): StructType = StructType(Seq(named("key", keys)))

  /** The other columns.
    *
    * @param values
    *   of the family that has the rows
    */
  def valueColumns(values: StructType): StructType
}

private[rewrite] object TableShape {

  /** A row for each key. */
  case object Rows extends TableShape {
    override def valueColumns(values: StructType): StructType =
      StructType(Seq(named("value", values)))
  }

  /** The entries of transformWithState's maps. */
  case object Entries extends TableShape {
    override def keyColumns(keys: StructType): StructType = StructType(
      Seq(named("key", keys(0).dataType), named("user_map_key", keys(1).dataType))
    )
    override def valueColumns(values: StructType): StructType =
      StructType(Seq(named("user_map_value", values)))
  }

  /** The elements of transformWithState's lists. */
  case object Elements extends TableShape {
    override def isList: Boolean = true
    override def valueColumns(values: StructType): StructType =
      StructType(Seq(named("list_element", values)))
  }

  /** transformWithState's timers. */
  case object Timers extends TableShape {
    override def keyColumns(keys: StructType): StructType = StructType(
      Seq(named("key", keys(0).dataType), named("expiration_timestamp_ms", LongType))
    )
    override def valueColumns(values: StructType): StructType = StructType(Nil)
  }

  /** The rows of a side of a join. Since state format 2 they have whether a partner was found: an
    * outer join returns the others without one when it removes them.
    */
  case object Side extends TableShape {
    override def isList: Boolean = true
    override def keyColumns(keys: StructType): StructType =
      super.keyColumns(StructType(keys.dropRight(1)))
    override def valueColumns(values: StructType): StructType =
      if (isMatched(values))
        StructType(
          Seq(named("value", StructType(values.dropRight(1))), named("matched", BooleanType))
        )
      else Rows.valueColumns(values)

    private def isMatched(values: StructType) =
      values.lastOption.exists(it => it.name == "matched" && it.dataType == BooleanType)
  }

  private def named(name: String, of: DataType) = StructField(name, of, nullable = false)
}

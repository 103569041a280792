package io.keyfold.spark.rewrite

import org.apache.spark.sql.catalyst.expressions.{
  BoundReference,
  CreateNamedStruct,
  Expression,
  Literal
}
import org.apache.spark.sql.types.{BooleanType, DataType, LongType, StructField, StructType}

/** What the rows of a table are, of which columns: those that Spark's `statestore` source has, and
  * `matched` of a join.
  */
private[rewrite] sealed trait TableShape extends Serializable {
  import TableShape.{all, named}

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

  /** All columns of a row, computed from the family's key and value, whose fields follow each
    * other.
    */
  def columnsOf(keys: StructType, values: StructType): Seq[Expression] = Seq(
    all(keys, 0),
    all(values, keys.length)
  )
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
    override def columnsOf(keys: StructType, values: StructType): Seq[Expression] =
      each(keys, 0) :+ all(values, keys.length)
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
    override def columnsOf(keys: StructType, values: StructType): Seq[Expression] = each(keys, 0)
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

    override def columnsOf(keys: StructType, values: StructType): Seq[Expression] = {
      val (own, others) =
        values.splitAt(if (isMatched(values)) values.length - 1 else values.length)
      all(StructType(keys.dropRight(1)), 0) +: all(StructType(own), keys.length) +:
        each(StructType(others), keys.length + own.length)
    }

    private def isMatched(values: StructType) =
      values.lastOption.exists(it => it.name == "matched" && it.dataType == BooleanType)
  }

  private def each(columns: StructType, from: Int): Seq[Expression] =
    columns.zipWithIndex.map { case (it, i) => BoundReference(from + i, it.dataType, it.nullable) }

  /** A struct of these columns. */
  private def all(columns: StructType, from: Int): Expression = CreateNamedStruct(
    columns.map(_.name).zip(each(columns, from)).flatMap { case (name, it) =>
      Seq(Literal(name), it)
    }
  )

  private def named(name: String, of: DataType) = StructField(name, of, nullable = false)
}

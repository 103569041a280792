package io.keyfold.bench.cell

import org.apache.spark.sql.execution.streaming.state._

/** A shape, and how the store is told to keep its keys and values. */
final case class Layout(
    shape: Shape,
    spec: KeyStateEncoderSpec,
    columnFamilies: Boolean = false,
    multipleValues: Boolean = false
)

object Layout {
  def plain(shape: Shape): Layout = Layout(shape, NoPrefixKeyStateEncoderSpec(shape.keySchema))

  /** Keys found by their first column. */
  val byPrefix: Layout =
    Layout(Shape.Runs, PrefixKeyScanStateEncoderSpec(Shape.Runs.keySchema, 1))

  /** Keys in the order of their second column, the time. */
  val byTime: Layout = Layout(
    Shape.Times,
    RangeKeyScanStateEncoderSpec(Shape.Times.keySchema, Seq(1)),
    columnFamilies = true
  )

  val lists: Layout =
    plain(Shape.Ints).copy(columnFamilies = true, multipleValues = true)
}

package io.keyfold.spark.rewrite

import org.apache.spark.sql.types.StructType

/** The rows of an operator's subtasks after a change of their number, by Flink's rules. Sent to
  * executors.
  *
  * @param rules
  *   split, union or broadcast, by state
  * @param before
  *   the old rows by state and subtask
  * @param own
  *   what each subtask keeps of itself
  */
private final class Redistribution(
    rules: Map[String, String],
    before: Map[String, IndexedSeq[IndexedSeq[SubtaskRow]]],
    own: SubtaskRow
) extends Serializable {
  private lazy val joined = before.map { case (state, lists) => state -> lists.flatten }

  def rowsOf(family: String, subtask: Int, parallelism: Int): Iterator[SubtaskRow] =
    if (family == own.family) Iterator(own)
    else
      before.get(family).fold(Iterator.empty[SubtaskRow]) { lists =>
        rules(family) match {
          case "split" =>
            (subtask until joined(family).length by parallelism).iterator.map(joined(family))
          case "union"     => joined(family).iterator
          case "broadcast" => lists(subtask % lists.length).iterator
        }
      }
}

private object Redistribution {

  /** The columns of what a subtask keeps of itself. */
  final class Own(val family: String, schema: StructType) {
    private val parallelism = schema.fieldIndex("parallelism")
    private val maximum = schema.fieldIndex("max_parallelism")

    def parallelism(row: SubtaskRow): Int = row.value.getInt(parallelism)
    def maxParallelism(row: SubtaskRow): Int = row.value.getInt(maximum)
    def states(row: SubtaskRow): String = row.value.getString(schema.fieldIndex("states"))

    /** Of a new subtask. It hears of the newest batch that an old one has. */
    def next(rows: Seq[SubtaskRow], subtasks: Int): SubtaskRow = {
      val newest = rows.maxBy(_.value.getLong(schema.fieldIndex("batch")))
      val changed = newest.value.copy()
      changed.setInt(parallelism, subtasks)
      // A start may raise the maximum: what is written fits itself before its batch has run.
      changed.setInt(maximum, math.max(changed.getInt(maximum), subtasks))
      newest.copy(value = changed)
    }
  }
}

package io.keyfold.spark.rewrite

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.execution.streaming.state._
import org.apache.spark.sql.types.{LongType, StructType}

/** A row of a state of an operator's subtasks.
  *
  * @param key
  *   without the subtask's own columns: the key of a map; null for a list
  */
private final case class SubtaskRow(family: String, subtask: Int, key: UnsafeRow, value: UnsafeRow)

/** The store that has the states of an operator's subtasks, each of which is one grouping key. Its
  * version can be made a second time, with an id of its own. Sent to executors.
  */
private final class SubtaskStore(store: StoreOfOperator, val partitions: Int) extends Serializable {
  import SubtaskStore._

  /** The same without families that no state has, such as an attempt that failed may have declared,
    * or the operator that was in this place before.
    */
  def of(states: Set[String]): SubtaskStore = {
    val declared = store.families.filter { family =>
      family.name match {
        case Counter(list) => states(list)
        case name          => states(name) || name.startsWith("$")
      }
    }
    new SubtaskStore(store.copy(families = declared), partitions)
  }

  def name: String = store.name
  def ids: Option[Array[String]] = store.ids
  def families: Seq[StoredFamily] = store.families

  /** The rows of a partition's subtasks, those of a list in its order. Runs in a task.
    *
    * @param isWanted
    *   by name of the family
    */
  def read(partition: Int, isWanted: String => Boolean): Array[SubtaskRow] =
    store.using(partition)(store.of(partition)) { state =>
      for {
        family <- store.families.filter(it => isWanted(it.name)).toArray
        row <- family.rowsOf(state).map(rowOf(family, _)).toArray[SubtaskRow]
      } yield row
    }

  /** Gives a partition these rows and no others. Runs in a task.
    *
    * @param rowsOf
    *   of a family and a subtask
    * @param places
    *   by subtask: the second column of its grouping key
    * @return
    *   id of the version written
    */
  def write(
      partition: Int,
      rowsOf: (String, Int) => Iterator[SubtaskRow],
      places: Array[Int]
  ): String =
    store.using(partition)(store.again(partition)) { state =>
      for {
        subtask <- partition until places.length by partitions
        family <- store.families
      } {
        val key = new SubtaskKey(family, subtask, places(subtask))
        val rows = family.name match {
          case Counter(list) => counted(rowsOf(list, subtask).length)
          case name          => rowsOf(name, subtask)
        }
        family.put(rows.map(row => new UnsafeRowPair(key(row), row.value)), state)
      }
      state.commit()
      state.getStateStoreCheckpointInfo().stateStoreCkptId.get
    }

}

private object SubtaskStore {

  /** The family in which Spark counts the values of a list. */
  private val Counter = """\$rowCounter_(.*)""".r
  private lazy val toCount = UnsafeProjection.create(new StructType().add("count", LongType))

  /** Spark has no counter for an empty list. */
  private def counted(values: Int): Iterator[SubtaskRow] =
    if (values == 0) Iterator.empty
    else Iterator(SubtaskRow("", 0, null, toCount(InternalRow(values.toLong)).copy()))

  private def rowOf(family: StoredFamily, row: UnsafeRowPair): SubtaskRow = {
    val (own, key) =
      if (!family.isMap) (row.key, null)
      else {
        // The grouping key and the user's.
        val userKey = family.schema.keySchema(1).dataType.asInstanceOf[StructType]
        (row.key.getStruct(0, 2), row.key.getStruct(1, userKey.length).copy())
      }
    SubtaskRow(family.name, own.getInt(0), key, row.value.copy())
  }

  /** Makes the keys of one subtask in one family. */
  private final class SubtaskKey(family: StoredFamily, subtask: Int, place: Int) {
    private val own = InternalRow(subtask, place)
    private val encode = UnsafeProjection.create(family.schema.keySchema)

    def apply(row: SubtaskRow): UnsafeRow =
      encode(if (family.isMap) InternalRow(own, row.key) else own)
  }
}

package io.keyfold.spark.rewrite

import scala.reflect.ClassTag

import io.keyfold.spark.checkpoint.CheckpointLogs
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.execution.streaming.state._
import org.json4s.jackson.JsonMethods.parse
import org.json4s.{DefaultFormats, Formats}

/** The state of an operator's subtasks after a batch: what `keyfold.with_operator_state` keeps.
  *
  * @param first
  *   what subtask 0 keeps of itself
  */
final class SubtaskState private (
    session: SparkSession,
    val operator: Long,
    store: SubtaskStore,
    own: Redistribution.Own,
    first: SubtaskRow
) {
  import SubtaskState._

  /** Number of subtasks. */
  val parallelism: Int = own.parallelism(first)

  /** The most that the operator may have. */
  val maxParallelism: Int = own.maxParallelism(first)

  /** How each state is redistributed, by its name. */
  val rules: Map[String, String] = parse(own.states(first)).extract[Map[String, String]]

  /** States that the batch's metadata lack, or have as another kind of state: Spark keeps the
    * metadata of the first attempt at a batch, also if that declared other states.
    */
  def undeclared: Set[String] =
    rules.collect { case (state, rule) if !isKept(store, state, rule) => state }.toSet

  def partitions: Int = store.partitions
  def storeName: String = store.name

  /** Ids of the version, by partition. */
  def ids: Option[Seq[String]] = store.ids.map(_.toSeq)

  /** Writes the version again, with other subtasks; needs checkpoint format v2.
    *
    * @param places
    *   the second column of the grouping key of each new subtask
    * @return
    *   its ids, by partition; a partition that has and had no subtask keeps its own
    */
  def redistributed(places: Seq[Int]): Seq[String] = {
    val old = store.of(rules.keySet + own.family)
    val before = run(parallelism)(old.read(_, _ => true)).flatten
      .groupBy(_.family)
      .map { case (family, rows) =>
        val bySubtask = rows.groupBy(_.subtask)
        family ->
          IndexedSeq.tabulate(parallelism)(bySubtask.getOrElse(_, Nil).toIndexedSeq)
      }
    val next = own.next(before(own.family).flatten, places.length)
    val after = session.sparkContext.broadcast(new Redistribution(rules, before, next))
    try {
      val numbers = places.toArray
      val written = run(math.max(parallelism, places.length)) { partition =>
        old.write(partition, after.value.rowsOf(_, _, numbers.length), numbers)
      }
      written ++ store.ids.get.drop(written.length)
    } finally after.destroy()
  }

  /** Runs a task for each partition that has some of so many subtasks. */
  private def run[T: ClassTag](subtasks: Int)(task: Int => T): Seq[T] = {
    val used = math.min(subtasks, partitions)
    session.sparkContext.parallelize(0 until used, used).map(task).collect().toSeq
  }
}

object SubtaskState {
  implicit private val formats: Formats = DefaultFormats
  private val Own = "subtask_of_(.*)".r

  /** The operator of a name; None if the checkpoint has no such operator.
    *
    * @param batch
    *   it must be committed
    * @param ids
    *   of the batch's state, by operator; None under checkpoint format v1
    */
  def find(
      session: SparkSession,
      logs: CheckpointLogs,
      batch: Long,
      name: String,
      ids: Long => Option[Array[Array[String]]]
  ): Option[SubtaskState] = {
    val family = s"subtask_of_$name"
    for {
      operator <- logs.metadata(batch).find(statesOf(_).contains(family))
      id = operator.operatorInfo.operatorId
      opened = new OperatorStores(session, logs, batch).of(operator).head
      partitions <- logs.partitions(batch)
      store = new SubtaskStore(opened.copy(ids = ids(id).map(_.map(_.head))), partitions)
      // Subtask 0 is in partition 0.
      rows = session.sparkContext.parallelize(Seq(0), 1).map(store.read(_, _ == family)).collect()
      first <- rows.head.headOption
      schema = store.families.find(_.name == family).get.schema.valueSchema
    } yield new SubtaskState(session, id, store, new Redistribution.Own(family, schema), first)
  }

  private def isKept(store: SubtaskStore, state: String, rule: String) =
    store.families.exists { it =>
      it.name == state && it.isMap == (rule == "broadcast") && it.multiValue != it.isMap
    }

  /** By operator, in the order in which a plan has them, the names under which it has state of its
    * subtasks: none, one, or more if it was renamed.
    */
  def names(logs: CheckpointLogs, batch: Long): Seq[(Long, Set[String])] =
    logs.metadata(batch).sortBy(_.operatorInfo.operatorId).map { operator =>
      operator.operatorInfo.operatorId ->
        statesOf(operator).collect { case Own(name) => name }.toSet
    }

  private def statesOf(operator: OperatorStateMetadata): Seq[String] =
    OperatorStores.variables(operator).fold(Seq.empty[String])(_.map(_.stateName))
}

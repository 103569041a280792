package io.keyfold.spark.admin.redistribute

import java.nio.file.{Files, Path}

import io.keyfold.spark.FileFaults
import io.keyfold.spark.admin.AdminApi
import io.keyfold.spark.checkpoint.CheckpointTools
import io.keyfold.testkit.{Failure, Folders}
import org.apache.spark.sql.keyfold.TestNames.MemoryStream
import org.apache.spark.sql.streaming._
import org.apache.spark.sql.{Dataset, Encoders, SparkSession}
import org.scalatest.Assertions

/** A query with state of subtasks, as Python's `with_operator_state` makes them, and with keyed
  * state beside it; and a plain model of what the state must be.
  */
private[redistribute] final class SubtaskQuery(
    base: SparkSession,
    format: Int = 2,
    encoding: String = "unsaferow"
) extends Assertions {
  import SubtaskQuery._

  private val original = Files.createTempDirectory("keyfold-subtasks")
  private var place = original
  val faults = new FileFaults(original.toString)
  val session: SparkSession = base.newSession()
  import session.implicits._

  (faults.settings ++ Map(
    "spark.sql.streaming.stateStore.checkpointFormatVersion" -> format.toString,
    "spark.sql.streaming.stateStore.encodingFormat" -> encoding,
    "spark.sql.shuffle.partitions" -> "3"
  )).foreach { case (key, value) => session.conf.set(key, value) }

  private val input = MemoryStream[Int](session)
  private var model = Model(Nil)
  private var committed = model
  private var next = 0

  /** The checkpoint. */
  def folder: Path = place

  /** From now on the query goes on with a copy of the checkpoint. */
  def moveTo(copy: Path): Unit = place = copy

  /** A query that goes on with a copy of the checkpoint, from where this one is. */
  def copied(): SubtaskQuery = {
    val copy = new SubtaskQuery(base, format, encoding)
    Folders.copy(folder, copy.folder)
    while (copy.next < next) copy.add()
    copy.model = model
    copy.committed = committed
    copy
  }

  /** Gives a batch of numbers to so many subtasks. */
  def run(parallelism: Int, addAgain: Boolean = true): Unit = {
    val query = start(parallelism)
    try {
      if (addAgain) add()
      model = model.after(last, parallelism)
      query.processAllAvailable()
      committed = model
    } finally query.stop()
  }

  /** A batch is begun, runs to its end, and is not committed. */
  def leaveOpen(parallelism: Int): Unit = {
    faults.plan.fail(Failure.Before)(c => c.what == "rename" && c.path.startsWith("commits/"))
    val query = start(parallelism)
    add()
    intercept[StreamingQueryException](query.processAllAvailable())
    query.stop()
    faults.plan.clear()
  }

  private def last = next - 7 until next

  private def add(): Unit = {
    next += 7
    input.addData(last)
    ()
  }

  def redistribute(to: Int): RedistributionPlan = {
    val done = redistributing(to)(_.run())
    modelled(to)
    done
  }

  def redistributing[T](to: Int)(use: Redistributor => T): T =
    CheckpointTools.using(session, folder.toString) { tools =>
      use(new Redistributor(tools, "op", Places.take(to)))
    }

  /** The state is now what the last batch left, and of so many subtasks. */
  def modelled(to: Int): Unit = model =
    if (committed.subtasks.length == to) committed else committed.redistributed(to)

  def undo(): Unit = {
    AdminApi.undoRescale(session, folder.toString, dryRun = false)
    ()
  }

  /** The state in the checkpoint is the model's. */
  def check(): Unit = {
    assert(found == model)
    ()
  }

  /** Number of subtasks that the state in the checkpoint is of. */
  def parallelism: Int = own.length

  private def own = read("subtask_of_op")
    .select("key.subtask", "value.parallelism", "value.batch")
    .as[(Int, Int, Long)]
    .collect()

  /** The model of a query that was undone is that of before. */
  def unchanged(change: => Any): Unit = {
    val before = (model, committed)
    change
    model = before._1
    committed = before._2
  }

  private def read(state: String) = session.read
    .format("statestore")
    .option("path", folder.toString)
    .option("operatorId", "0")
    .option("stateVarName", state)
    .option("flattenCollectionTypes", "true")
    .load()

  private def found: Model = {
    def list(state: String) =
      read(state).select("key.subtask", "list_element.value").as[(Int, Int)].collect().toSeq
    val (split, union) = (list("dealt"), list("all"))
    val rules = read("rules")
      .select("key.subtask", "user_map_key.value", "user_map_value.value")
      .as[(Int, Int, Int)]
      .collect()
    val own = this.own
    assert(own.map(_._1).sorted.toSeq == own.indices)
    assert(own.forall(_._2 == own.length))
    assert(own.map(_._3).distinct.lengthIs <= 1)
    Model(own.indices.map { t =>
      Subtask(
        split.collect { case (`t`, v) => v },
        union.collect { case (`t`, v) => v },
        rules.collect { case (`t`, k, v) => k -> v }.toMap
      )
    })
  }

  // In Avro, Spark keeps what is in column families only.
  private def values =
    if (encoding == "avro") input.toDS() else input.toDS().dropDuplicates()

  private def start(parallelism: Int): StreamingQuery = values
    .flatMap(v => (0 until parallelism).map(t => Dealt(t, Places(t), v, v % parallelism == t)))
    .groupByKey(it => Key(it.subtask, it.place))
    .transformWithState(new Keeps(parallelism), TimeMode.None(), OutputMode.Update())
    .writeStream
    .outputMode("update")
    .option("checkpointLocation", folder.toString)
    .foreachBatch { (batch: Dataset[Int], _: Long) =>
      batch.collect()
      ()
    }
    .start()
}

private[redistribute] object SubtaskQuery {

  /** Of the subtasks from 0, by Python's `place_of`. */
  val Places: Seq[Int] =
    Seq(1555128722, 252616554, -160637265, 1062986259, -1846406211, 1364398153)

  final case class Dealt(subtask: Int, place: Int, value: Int, own: Boolean)
  final case class Key(subtask: Int, place: Int)
  final case class Own(parallelism: Int, max_parallelism: Int, batch: Long, states: String)

  final case class Subtask(dealt: Seq[Int], all: Seq[Int], rules: Map[Int, Int])

  final case class Model(subtasks: Seq[Subtask]) {

    /** Each keeps its own values in two lists, and with every value who wrote it. */
    def after(values: Seq[Int], parallelism: Int): Model = {
      val before =
        if (subtasks.isEmpty) Seq.fill(parallelism)(Subtask(Nil, Nil, Map.empty)) else subtasks
      Model(before.zipWithIndex.map { case (it, t) =>
        val own = values.filter(_ % parallelism == t)
        Subtask(it.dealt ++ own, it.all ++ own, it.rules ++ values.map(_ -> t))
      })
    }

    def redistributed(to: Int): Model = {
      val dealt = subtasks.flatMap(_.dealt).zipWithIndex
      Model((0 until to).map { t =>
        Subtask(
          dealt.collect { case (v, i) if i % to == t => v },
          subtasks.flatMap(_.all),
          subtasks(t % subtasks.length).rules
        )
      })
    }
  }

  final class Keeps(parallelism: Int) extends StatefulProcessor[Key, Dealt, Int] {
    @transient private var own: ValueState[Own] = _
    @transient private var dealt: ListState[Int] = _
    @transient private var all: ListState[Int] = _
    @transient private var rules: MapState[Int, Int] = _
    private val states = """{"all": "union", "dealt": "split", "rules": "broadcast"}"""

    override def init(outputMode: OutputMode, timeMode: TimeMode): Unit = {
      own = getHandle.getValueState[Own]("subtask_of_op", Encoders.product[Own], TTLConfig.NONE)
      dealt = getHandle.getListState[Int]("dealt", Encoders.scalaInt, TTLConfig.NONE)
      all = getHandle.getListState[Int]("all", Encoders.scalaInt, TTLConfig.NONE)
      rules = getHandle
        .getMapState[Int, Int]("rules", Encoders.scalaInt, Encoders.scalaInt, TTLConfig.NONE)
    }

    override def handleInputRows(
        key: Key,
        rows: Iterator[Dealt],
        timers: TimerValues
    ): Iterator[Int] = {
      val before = Option(own.get())
      assert(before.forall(_.parallelism == parallelism), s"$key has $before, not $parallelism")
      for (row <- rows.toSeq.sortBy(_.value)) {
        rules.updateValue(row.value, key.subtask)
        if (row.own) {
          dealt.appendValue(row.value)
          all.appendValue(row.value)
        }
      }
      own.update(Own(parallelism, 5, before.fold(0L)(_.batch + 1), states))
      Iterator(key.subtask)
    }
  }
}

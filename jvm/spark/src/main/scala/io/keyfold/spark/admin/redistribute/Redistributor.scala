package io.keyfold.spark.admin.redistribute

import io.keyfold.errors.RescaleRefused
import io.keyfold.format.RescaledStore
import io.keyfold.spark.checkpoint.CheckpointTools
import io.keyfold.spark.rewrite.SubtaskState

/** Gives the state of one operator, as the last committed batch R left it, to another number of
  * subtasks. What was made of it since, and no batch has committed, does not count: a start that
  * failed leaves no trace in what the next one makes. Has no batch of its own, so that it does not
  * matter whether batch R + 1 was begun:
  *
  *   1. the operator's partitions, as another attempt at batch R, under fresh ids: nothing refers
  *      to them yet. None are written for the number of subtasks that batch R had
  *   1. the plan file, of which only one can be created: it has the old and the new entry of R in
  *      the commit log, for the undo and for later redistributions
  *   1. that entry, which names the new files; the ids of all other state stay
  *
  * Before the last step the checkpoint is as before, after it the operator has its new subtasks. A
  * run that broke off leaves files that nothing refers to, and another run starts over. A driver
  * elsewhere that runs batch R + 1 goes on from the old state, and what it commits counts.
  *
  * @param places
  *   the second column of the grouping key of each new subtask
  * @param isStart
  *   whether the query starts with them, and so has said itself how many there may be
  */
private[spark] final class Redistributor(
    tools: CheckpointTools,
    name: String,
    places: Seq[Int],
    isStart: Boolean = false
) {
  import CheckpointTools.progress
  import tools.{logs, session}

  private val to = places.length
  private val refused = new Refusals(tools, name, to)
  private val last = logs.lastCommitted.filter(logs.settings(_).nonEmpty)
  private lazy val commit = last.map(new LastCommit(tools, _))

  /** As it is; None if the checkpoint has no state of subtasks of this name. */
  private lazy val now = state(_.ids)

  /** As the last committed batch left it. */
  private lazy val ofBatch = state(_.idsOfBatch)

  private def state(ids: LastCommit => Long => Option[Array[Array[String]]]) =
    for (
      batch <- last; entry <- commit;
      it <- SubtaskState.find(session, logs, batch, name, ids(entry))
    )
      yield it

  /** Whether the operator's state is there, and of another number of subtasks. */
  def isDue: Boolean = now.exists(_.parallelism != to)

  /** Reads only. */
  def plan(): RedistributionPlan = {
    val refusals = last.fold(Seq(refused.noBatch))(refusalsOf)
    val state = if (refusals.isEmpty) ofBatch else None
    RedistributionPlan(
      logs.location,
      name,
      state.map(_.operator),
      last.getOrElse(-1),
      if (refusals.isEmpty) now.fold(0)(_.parallelism) else 0,
      to,
      state.fold(Map.empty[String, String])(_.rules),
      state.filter(_.parallelism != to).fold(0) { it =>
        math.min(it.partitions, math.max(it.parallelism, to))
      },
      refusals
    )
  }

  /** What the batch left is read last: after a rescale it cannot be read. */
  private def refusalsOf(batch: Long): Seq[RescaleRefused] =
    (refused.before(batch) #::
      now.fold(Seq(refused.unknown))(refused.of(batch, _)) #::
      tooMany.toSeq #::
      LazyList.empty).find(_.nonEmpty).getOrElse(Nil)

  private def tooMany = {
    val most = if (isStart) Int.MaxValue else ofBatch.get.maxParallelism
    Option.when(to < 1 || to > most)(refused.tooMany(most))
  }

  /** @throws io.keyfold.errors.RescaleRefused
    *   if it is refused, or another process has changed the checkpoint meanwhile
    */
  def run(): RedistributionPlan = {
    val plan = this.plan()
    plan.refusals.headOption.foreach(throw _)
    val state = ofBatch.get
    progress(s"redistributing ${state.parallelism} subtasks of operator $name to $to")
    val ids = if (state.parallelism == to) state.ids.get else state.redistributed(places)
    val store = RescaledStore(state.operator, state.storeName, Nil, Nil)
    if (!commit.get.change(store, state.partitions, ids.map(Array(_)).toArray))
      throw refused.race(plan.lastBatch)
    plan
  }
}

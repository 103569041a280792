package io.keyfold.spark.admin.redistribute

import io.keyfold.errors.RescaleRefused
import io.keyfold.format.{FileKind, RescaledStore}
import io.keyfold.model.{StoreLocation, VersionId}
import io.keyfold.spark.admin.rescale.UnfinishedRescale
import io.keyfold.spark.checkpoint.{CheckpointTools, Command, FileManagers, SinkChoice}
import io.keyfold.spark.conf.ProviderClass
import org.apache.hadoop.fs.Path
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.keyfold.{CheckpointLogs, SubtaskState}

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
    session: SparkSession,
    tools: CheckpointTools,
    name: String,
    places: Seq[Int],
    isStart: Boolean = false
) {
  import CheckpointTools.progress
  import tools.{blobs, files, logs}

  private val to = places.length
  private val last = logs.lastCommitted.filter(logs.settings(_).nonEmpty)
  private lazy val commit = last.map(new LastCommit(session, tools, _))

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
    val refusals =
      last.fold(Seq(refused("KEYFOLD_RESCALE_NO_BATCH", "it has no committed batch"))) { batch =>
        before(batch) match {
          case Nil     => now.fold(Seq(unknown))(of(batch, _))
          case reasons => reasons
        }
      }
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
      throw race(plan.batch)
    plan
  }

  /** What can be said without reading state. */
  private def before(batch: Long): Seq[RescaleRefused] = {
    val provider = logs.providerOf(batch).getOrElse("none")
    Seq(
      Option.when(logs.isRunningHere)(
        refused(
          "KEYFOLD_RESCALE_RUNNING",
          "the query runs in this Spark application; stop it first"
        )
      ),
      Option.when(provider != ProviderClass.Keyfold)(
        refused("KEYFOLD_RESCALE_PROVIDER", s"the state was written by $provider")
      ),
      Option.when(!logs.lastBegun.exists(it => it == batch || it == batch + 1))(
        refused(
          "KEYFOLD_RESCALE_NO_BATCH",
          s"batch $batch was committed, and the offset log ends at ${logs.lastBegun.getOrElse("none")}"
        )
      ),
      new UnfinishedRescale(logs, blobs, files).refusal(batch, SinkChoice.NotSaid),
      notReplaceable(batch).map(refused("KEYFOLD_REDISTRIBUTE_FORMAT", _))
    ).flatten
  }

  private def notReplaceable(batch: Long) =
    if (logs.formatOf(batch) == 1)
      Some(
        "the checkpoint has format 1, in which files have no ids. Start the query with the " +
          s"parallelism that it had, or with a new checkpoint and ${CheckpointLogs.FormatKey}=2"
      )
    else
      Option.when(!FileManagers.canReplace(new Path(logs.location), logs.hadoopConf))(
        "the checkpoint file manager cannot replace a file in one step. Copy the checkpoint to a " +
          "file system that can"
      )

  private def of(batch: Long, state: SubtaskState): Seq[RescaleRefused] = Seq(
    Option.when(to == state.parallelism)(
      refused("KEYFOLD_REDISTRIBUTE_PARALLELISM", s"the operator already has $to subtasks")
    ),
    Option.when(state.undeclared.nonEmpty)(
      refused(
        "KEYFOLD_REDISTRIBUTE_STATES",
        s"Spark's metadata of batch $batch do not have its states " +
          s"${state.undeclared.toSeq.sorted.mkString(", ")} as they are: they are of an attempt with " +
          s"other states, which failed. Start the query with parallelism=${state.parallelism} and " +
          "let it run one batch, with which Spark writes them anew"
      )
    ),
    tooSoon(batch, state).orElse(tooMany(ofBatch.get.maxParallelism))
  ).flatten

  /** What batch R left cannot be read then. */
  private def tooSoon(batch: Long, state: SubtaskState) =
    Option.when(!state.canBeBuilt || isRescaled(batch, state))(
      refused(
        "KEYFOLD_REDISTRIBUTE_TOO_SOON",
        s"batch $batch does not build on files of the batch before, because the query was rescaled, " +
          "cloned or migrated after it. Start the query with " +
          s"parallelism=${state.parallelism} and let it run one batch; or undo the rescale, " +
          "redistribute and rescale again"
      )
    )

  private def tooMany(most: Int) = Option.when(to < 1 || !isStart && to > most)(
    refused(
      "KEYFOLD_REDISTRIBUTE_PARALLELISM",
      s"the parallelism must be between 1 and the operator's max_parallelism, $most, not $to"
    )
  )

  /** Whether the partitions have references: their plan counts on being the last that changed them.
    */
  private def isRescaled(batch: Long, state: SubtaskState) =
    state.ids.exists { ids =>
      val head = VersionId(batch + 1, ids.head).written
      val folder = StoreLocation(state.operator, 0, state.storeName).folder
      head.version == batch + 1 &&
      blobs.exists(s"$folder/${FileKind.Reference.nameOf(head)}")
    }

  private def unknown = refused(
    "KEYFOLD_REDISTRIBUTE_NO_OPERATOR",
    s"it has no state of subtasks of such an operator. `${Command.describe(logs.location)}` shows " +
      "operators with their states; one of them is called subtask_of_<name>"
  )

  private def race(batch: Long) = refused(
    "KEYFOLD_RESCALE_RACE",
    s"batch ${batch + 1} was begun or another command has changed batch $batch meanwhile. " +
      "Nothing was changed"
  )

  private def refused(condition: String, reason: String) = new RescaleRefused(
    condition,
    s"Cannot redistribute operator '$name' of ${logs.location}: $reason."
  )
}

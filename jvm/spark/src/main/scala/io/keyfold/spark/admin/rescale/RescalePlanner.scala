package io.keyfold.spark.admin.rescale

import java.io.IOException

import scala.collection.mutable

import io.keyfold.errors.{RescaleRefused, StoreError}
import io.keyfold.model.StoreLocation
import io.keyfold.rescale.{StorePlan, StorePlanner}
import io.keyfold.spark.checkpoint.{CheckpointLogs, CheckpointTools, Command}
import io.keyfold.spark.conf.ProviderClass

/** Plans a rescale; writes nothing. Reads two or three footers of each old partition and store: see
  * `StorePlanner`.
  */
private[admin] final class RescalePlanner(tools: CheckpointTools, to: Int) {
  import CheckpointLogs.{ProviderKey, StrictKey}
  import CheckpointTools.progress
  import tools.{blobs, logs, parallel}

  private val unfinished = new UnfinishedRescale(tools)
  private val refusals = mutable.Buffer.empty[RescaleRefused]

  def plan(): CheckpointPlan = {
    if (to < 1)
      refuse("KEYFOLD_RESCALE_PARTITIONS", s"the number of partitions must be at least 1, not $to")
    if (logs.isRunningHere) {
      refuse("KEYFOLD_RESCALE_RUNNING", "the query runs in this Spark application; stop it first")
    }
    val last = logs.lastCommitted.filter(batch => logs.settings(batch).nonEmpty)
    if (last.isEmpty)
      refuse("KEYFOLD_RESCALE_NO_BATCH", s"${logs.location} has no committed batch")
    val plan = last.fold(CheckpointPlan(logs.location, 0, to = to))(planAfter)
    val warnings = CheckpointTools.MustBeStopped +: readsMore(plan.stores).toSeq
    plan.copy(refusals = refusals.toSeq, warnings = warnings)
  }

  private def planAfter(last: Long): CheckpointPlan = {
    val plans = new OpenPlans(tools, last + 1)
    val number = plans.nextNumber
    val begun = logs.lastBegun.getOrElse(last)
    val open = if (begun == last + 1) plans.rescale.filterNot(_.isComplete) else None
    val resumed = open.filter(it => !it.isUndone && it.plan.to == to)
    // Asked after `open`: one before an open batch that broke off leaves other numbers too.
    val isOwn = begun > last && open.isEmpty && new OpenPlans(tools, begun).hasOwn &&
      isRescale(begun, last)
    val isOpen = begun > last && !isOwn
    val resumes = isOwn || resumed.nonEmpty
    checkBegun(last, begun, isOwn, open, resumes)
    val from = resumed.map(_.plan.from).orElse(logs.partitions(last)).getOrElse {
      refuse(
        "KEYFOLD_RESCALE_NO_BATCH",
        s"the offset log does not have the number of partitions of batch $last"
      )
      0
    }
    if (from == to) refuse("KEYFOLD_RESCALE_PARTITIONS", s"the query already has $to partitions")
    val entry = s"${logs.location}/offsets/$last"
    checkSettings(CheckpointLogs.stillThere(entry, logs.settings(last)))
    val ids = logs.ids(last)
    // What Spark's files name from then on is there already.
    val isMade = resumed.exists(!_.isOld(s"commits/$last"))
    val operators =
      if (from < 1 || to < 1 || from == to || isMade) Nil
      else planOperators(last, from, ids, resumes)
    val format = if (ids.isEmpty) 1 else 2
    CheckpointPlan(logs.location, last + 1, isOpen, resumes, number, from, to, format, operators)
  }

  /** Looks at what is begun after the last committed batch.
    *
    * @param begun
    *   the batch that was begun last
    * @param isOwn
    *   whether that is a rescale's own
    * @param open
    *   a rescale before it, as an open batch, that is to be finished or undone
    * @param resumes
    *   whether one of the two is to be finished
    */
  private def checkBegun(
      last: Long,
      begun: Long,
      isOwn: Boolean,
      open: Option[OpenPlan],
      resumes: Boolean
  ): Unit = {
    if (begun < last)
      refuse(
        "KEYFOLD_RESCALE_NO_BATCH",
        s"batch $last was committed, and the offset log ends at $begun"
      )
    else if (begun > last && !isOwn && open.isEmpty) checkOpenBatch(begun, last)
    val other =
      if (begun == last) unfinished.overtaken(last)
      else if (isOwn && !logs.partitions(last + 1).contains(to)) unfinished.own(last)
      else if (open.nonEmpty && !resumes) unfinished.open(begun)
      else None
    other.foreach(refuse("KEYFOLD_RESCALE_UNFINISHED", _))
  }

  private def isRescale(begun: Long, last: Long) = logs.partitions(begun) != logs.partitions(last)

  /** Whether the state of a batch that the query has not committed can be rescaled before it. */
  private def checkOpenBatch(begun: Long, last: Long): Unit = {
    val reason =
      if (begun > last + 1 || isRescale(begun, last)) Some("the logs do not fit together")
      else if (logs.ids(last).isEmpty) Some("the checkpoint has format 1")
      else if (!logs.files.canReplace)
        Some("the checkpoint file manager cannot replace a file in one step")
      else None
    reason.foreach { why =>
      refuse(
        "KEYFOLD_RESCALE_UNCOMMITTED_BATCH",
        s"batch $begun was started but not committed, and $why. Run the query once with the " +
          "trigger AvailableNow, so that it finishes the batch and stops; or drop the batch with " +
          s"`${Command.rollback(logs.location, last)}`: the query then reads its input again, as a batch " +
          "of the same number, which a sink that has written the batch by its number leaves out"
      )
    }
  }

  private def checkSettings(settings: Map[String, String]): Unit = {
    val provider = settings.getOrElse(ProviderKey, "none")
    if (provider != ProviderClass.Keyfold) {
      refuse("KEYFOLD_RESCALE_PROVIDER", s"the state was written by $provider")
    }
    if (!settings.get(StrictKey).contains("true")) {
      refuse(
        "KEYFOLD_RESCALE_PLACEMENT",
        s"the query runs without $StrictKey: its rows may be in partitions that their hash does " +
          "not give"
      )
    }
  }

  private def planOperators(
      last: Long,
      from: Int,
      ids: Option[Map[Long, Array[Array[String]]]],
      resumes: Boolean
  ): Seq[OperatorPlan] = {
    val operators = logs.operators(last)
    if (operators.isEmpty)
      refuse("KEYFOLD_RESCALE_NO_STATE", s"${logs.location} has no stateful operator")
    operators.map { operator =>
      val planned = operator.stores.zipWithIndex.flatMap { case (store, index) =>
        progress(s"reading operator ${operator.id} (${operator.name}) store $store")
        val planner = new StorePlanner(blobs, from, to, last + 1, parallel)
        ifWhole {
          val ofStore = logs.idsOfStore(last, ids, operator.id, operator.stores.length, index)
          planner.plan(operator.id, store, ofStore)
        }
      }
      if (ids.isEmpty && !resumes) planned.foreach(checkNoNewer(_, last + 2))
      if (planned.map(_.partitions.length).distinct.length > 1) {
        refuse(
          "KEYFOLD_RESCALE_STATE",
          s"the stores of operator ${operator.id} have different numbers of partitions"
        )
      }
      OperatorPlan(operator.id, operator.name, planned)
    }
  }

  private def ifWhole(plan: => StorePlan): Option[StorePlan] =
    try Some(plan)
    catch {
      case e: RescaleRefused =>
        refusals += e
        None
      case e @ (_: StoreError | _: IOException) =>
        refusals += refusal("KEYFOLD_RESCALE_STATE", e.getMessage, e)
        None
    }

  /** Without ids, an existing file of the rescale's version could be mistaken for the rescale's
    * own.
    */
  private def checkNoNewer(plan: StorePlan, version: Long): Unit = {
    val stale = parallel(plan.partitions.indices) { partition =>
      tools.filesSince(version, StoreLocation(plan.operator, partition, plan.store))
    }.flatten
    stale.headOption.foreach { path =>
      refuse(
        "KEYFOLD_RESCALE_STALE_FILES",
        s"${blobs.describe(path)} is of a batch that is not in the offset log: the query is " +
          "running, or its batches were rolled back by hand; move such files away"
      )
    }
  }

  private def readsMore(stores: Seq[StorePlan]): Option[String] = {
    val partitions = stores.flatMap(_.partitions)
    val files = partitions.map(_.firstLoadFiles).maxOption.getOrElse(0)
    val times = partitions.map(_.firstLoadBytes).sum / stores.map(_.referencedBytes).sum.max(1)
    Option.when(partitions.exists(_.filtersRows))(
      s"$to does not divide the number of key groups: first loads read more rows than they keep" +
        (if (times < 2) "" else s", $times times the state in all and up to $files files each") +
        s"; the nearest that divide it: ${dividing(stores.head.keyGroups)}"
    )
  }

  /** The numbers of partitions nearest to the wanted one, below and above, that divide. */
  private def dividing(keyGroups: Int) = {
    val (below, above) = (1 to keyGroups).filter(keyGroups % _ == 0).partition(_ < to)
    (below.lastOption ++ above.headOption).mkString(", ")
  }

  private def refuse(condition: String, reason: String): Unit =
    refusals += refusal(condition, reason)

  private def refusal(condition: String, reason: String, cause: Throwable = null) =
    new RescaleRefused(condition, s"Cannot rescale: $reason.", cause)
}

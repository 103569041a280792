package io.keyfold.spark.admin.redistribute

import io.keyfold.format.{PlanName, RescalePlan, RescaledStore, RewrittenFile}
import io.keyfold.spark.admin.rescale.{OpenPlan, OpenPlans}
import io.keyfold.spark.checkpoint.{CheckpointLogs, CheckpointTools, RewrittenLogs}

/** The entry of the last committed batch R in the commit log: as it is, and as batch R left it.
  *
  * They differ if an operator was redistributed since. The plans of before batch R + 1 have each
  * content that the entry had, and stay until that batch is committed.
  */
private[redistribute] final class LastCommit(tools: CheckpointTools, batch: Long) {
  import tools.{files, logs}

  private val path = s"commits/$batch"
  private val plans = new OpenPlans(tools, batch + 1)
  // These two before all that is read: see `change`.
  private val number = plans.nextNumber
  private val begun = logs.lastBegun
  private val entry = CheckpointLogs.stillThere(s"${logs.location}/$path", files.read(path))

  /** Ids of an operator's state, by partition and store; None under checkpoint format v1. */
  def ids(operator: Long): Option[Array[Array[String]]] = idsIn(entry, operator)

  /** Those that batch R, or a rescale since, wrote. */
  def idsOfBatch(operator: Long): Option[Array[Array[String]]] =
    idsIn(plans.before(path, entry, Some(operator)), operator)

  private def idsIn(entry: Array[Byte], operator: Long) =
    logs.idsIn(entry).flatMap(_.get(operator))

  /** Whether the query or another command has begun something since the entry was read. */
  private def isOvertaken = logs.lastBegun != begun || logs.hasCommitted(batch + 1)

  /** Gives an operator other state. Of all who have read the same entry one creates the plan; of
    * two who create plans one after the other, the second finds that its entry is not there any
    * more. A rescale that has a batch of its own begins it before it looks for plans, and here it
    * is looked for after the plan is made.
    *
    * @return
    *   false if another command came first; the entry is then as that one wants it
    */
  def change(store: RescaledStore, partitions: Int, ids: Array[Array[String]]): Boolean = {
    val all = logs.idsIn(entry).getOrElse(Map.empty).updated(store.operator, ids)
    val commit = new RewrittenLogs(logs, batch).commit(entry, all)
    val name = PlanName.open(batch + 1, number)
    val plan = RescalePlan(name, partitions, partitions, Seq(store), Seq(commit))
    CheckpointTools.progress(s"writing plan ${plan.name}")
    !isOvertaken && plans.create(plan).exists { made =>
      made.complete()
      val isMine =
        isNow(commit) && plans.nextNumber == number + 1 && !isOvertaken
      if (!isMine) giveUp(made)
      isMine
    }
  }

  /** What it may have replaced is of a later plan that was made from the same entry. */
  private def giveUp(made: OpenPlan): Unit = {
    made.undone().complete()
    plans.counting.headOption
      .filter(it => it.isRedistribution && it.number > made.number)
      .foreach(_.complete())
  }

  private def isNow(commit: RewrittenFile) =
    files.read(path).map(_.toSeq) == commit.after.map(_.toSeq)
}

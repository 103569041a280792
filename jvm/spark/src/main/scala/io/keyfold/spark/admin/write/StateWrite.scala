package io.keyfold.spark.admin.write

import java.util.UUID

import io.keyfold.errors.Invalid
import io.keyfold.spark.admin.rescale.OpenPlans
import io.keyfold.spark.checkpoint.{CheckpointLogs, CheckpointTools}
import io.keyfold.spark.conf.ProviderClass
import io.keyfold.spark.rewrite.StateUpdate
import org.apache.spark.sql.DataFrame

/** Puts and deletes rows of one table in the state of a stopped query, as a batch R + 1 of its own
  * that reads no data:
  *
  *   1. the state of that batch, under fresh ids: nothing refers to it yet
  *   1. its entry in the offset log; the run that creates it wins
  *   1. its entry in the commit log, which names the state
  *
  * Before the last step the query goes on without the rows, and after it with them. A run that
  * broke off leaves files that nothing refers to, and perhaps a batch that another run, or the next
  * start, commits. A rollback to batch R undoes it.
  *
  * @param operator
  *   its number in the query
  * @param table
  *   the column family with its rows
  * @param put
  *   rows to put in place of those of the same keys
  * @param delete
  *   keys of rows to delete
  * @param replaces
  *   whether all other rows of the table are deleted
  * @param progress
  *   is told what it does
  */
private[admin] final class StateWrite(
    tools: CheckpointTools,
    operator: Long,
    table: String,
    put: Option[DataFrame],
    delete: Option[DataFrame],
    replaces: Boolean,
    progress: String => Unit = CheckpointTools.progress
) {
  import CheckpointLogs.WriteKey
  import tools.logs

  private val last = logs.lastCommitted.filter(logs.settings(_).nonEmpty)
  private lazy val update = new StateUpdate(tools, last.get, operator, table)

  /** Reads only.
    *
    * @throws io.keyfold.errors.Invalid
    *   if the rows do not fit the table
    */
  def plan(): StateWritePlan = {
    val refusals = last.fold(Seq(noBatch))(refusalsOf)
    if (refusals.isEmpty) update.require(put, delete)
    val warnings = if (refusals.isEmpty) CheckpointTools.MustBeStopped +: update.warnings else Nil
    StateWritePlan(logs.location, operator, table, last.getOrElse(-1), warnings, refusals)
  }

  /** @throws io.keyfold.errors.Invalid
    *   if it is refused, rows do not fit the table, or another process has changed the checkpoint
    *   meanwhile
    */
  def run(): StateWritePlan = {
    // Before anything that it says is read.
    val before = madeOf
    val plan = this.plan()
    val task = s"write state of ${logs.location}"
    CheckpointTools.requireNone(plan.refusals, "KEYFOLD_WRITE_REFUSED", task)
    val (from, batch) = (plan.lastBatch, plan.lastBatch + 1)
    progress(s"writing the state of batch $batch")
    val written = update.write(put, delete, replaces)
    if (replaces && written.put == 0) throw nothingPut
    progress(s"committing batch $batch")
    begin(batch, from)
    // After the batch is begun nobody replaces it any more.
    if (madeOf != before || !commit(batch, from, written.ids)) throw overtaken(batch)
    plan.copy(put = Some(written.put), deleted = Option.when(!replaces)(written.deleted))
  }

  /** An entry may be written though its writer is told that it failed. */
  private def begin(batch: Long, from: Long): Unit = {
    val id = UUID.randomUUID.toString
    val isMine = logs.isWrite(batch) || logs.begin(batch, from, Map(WriteKey -> id)) ||
      logs.writeOf(batch).contains(id)
    if (!isMine) throw overtaken(batch)
  }

  private def commit(batch: Long, from: Long, ids: Map[Long, Array[Array[String]]]) =
    logs.commit(batch, from, Some(ids)) || logs.ids(batch).exists(flat(_) == flat(ids))

  private def flat(ids: Map[Long, Array[Array[String]]]) =
    ids.map { case (operator, all) => operator -> all.toSeq.map(_.toSeq) }

  /** What the write builds on: a redistribution replaces the state of the last batch. */
  private def madeOf = last.map { batch =>
    (tools.files.read(s"commits/$batch").map(_.toSeq), new OpenPlans(tools, batch + 1).nextNumber)
  }

  private def refusalsOf(batch: Long): Seq[String] = {
    val ofCheckpoint = Seq(
      Option.when(!logs.isKeyfolds(batch))(
        s"Its state store provider is ${logs.providerOf(batch).getOrElse("none")}, not " +
          s"${ProviderClass.Keyfold}; `keyfold migrate` moves the state to Keyfold."
      ),
      Option.when(logs.ids(batch).isEmpty)(
        "It has checkpoint format 1, in which files of state have no ids, so that what is written " +
          "could be taken for the query's."
      )
    ).flatten ++ new CommittedEnd(tools).refusals(batch)
    if (ofCheckpoint.nonEmpty) ofCheckpoint else update.refusals
  }

  private def nothingPut = new Invalid(
    "KEYFOLD_WRITE_ROWS",
    s"Cannot replace table $table of operator $operator: there are no rows to put, so that it would be " +
      "empty. If it should be, give its rows as those to delete. Nothing was changed."
  )

  private def noBatch =
    "It has no committed batch: let its query run one first, which writes the " +
      "schema of its state."

  private def overtaken(batch: Long) = new Invalid(
    "KEYFOLD_CONCURRENT_UPDATE",
    s"Cannot write state of ${logs.location}: another process has started, committed or removed batch " +
      s"$batch meanwhile. Its state counts, and none of the rows is in it. Stop it, and run the command again."
  )
}

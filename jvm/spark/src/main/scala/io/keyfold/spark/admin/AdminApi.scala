package io.keyfold.spark.admin

import io.keyfold.errors.Invalid
import io.keyfold.spark.admin.clone.{CheckpointClone, CheckpointSync}
import io.keyfold.spark.admin.evolve.{Choices, Evolution}
import io.keyfold.spark.admin.migrate.{Migration, MigrationUndo}
import io.keyfold.spark.admin.redistribute.Redistributor
import io.keyfold.spark.admin.rescale._
import io.keyfold.spark.admin.rollback.{Rollback, RollbackUndo}
import io.keyfold.spark.admin.vacuum.Vacuum
import io.keyfold.spark.admin.write.{Bootstrap, StateWrite}
import io.keyfold.spark.checkpoint.CheckpointTools
import org.apache.spark.sql.{DataFrame, SparkSession}

/** The entry points for Python: strings and numbers in, JSON out. Progress goes to the standard
  * error stream.
  *
  * Common parameters: `checkpoint` is the location of a query's checkpoint. With `dryRun` nothing
  * is written, and a plan's `refusals` are empty if it can be applied.
  *
  * All throw [[io.keyfold.errors.StoreError]] if the operation is refused or the checkpoint cannot
  * be read; nothing is changed then.
  */
object AdminApi {
  import CheckpointTools.progress

  private val SavepointName = "[A-Za-z0-9][A-Za-z0-9._-]{0,99}"

  /** Gives a stopped query `to` partitions, or finishes a rescale that was begun. */
  def rescale(session: SparkSession, checkpoint: String, to: Int, dryRun: Boolean): String = {
    val start = System.nanoTime
    val plan = if (dryRun) planOf(session, checkpoint, to) else applyTo(session, checkpoint, to)
    AdminJson.of(plan, Option.when(!dryRun)((System.nanoTime - start) / 1000000))
  }

  /** Undoes the last rescale before an open batch, or redistribution before the next batch. */
  def undoRescale(session: SparkSession, checkpoint: String, dryRun: Boolean): String =
    CheckpointTools.using(session, checkpoint) { tools =>
      AdminJson.of(new UndoneRescale(tools).run(dryRun), checkpoint, !dryRun)
    }

  /** Changes the number of subtasks of an operator.
    *
    * @param places
    *   the second column of the grouping key of each new subtask, separated by commas
    */
  def redistribute(
      session: SparkSession,
      checkpoint: String,
      name: String,
      places: String,
      dryRun: Boolean
  ): String = CheckpointTools.using(session, checkpoint) { tools =>
    val numbers = places.split(',').toSeq.filter(_.nonEmpty).map(_.toInt)
    val it = new Redistributor(tools, name, numbers)
    AdminJson.ofFields(if (dryRun) it.plan() else it.run(), !dryRun)
  }

  /** Rolls a stopped query back to a batch that its checkpoint still has. Newer files are set
    * aside, in the folder that `aside` names.
    *
    * @param sinkPath
    *   folder of the query's file sink, the newer entries of whose log are set aside too; empty or
    *   null: none
    */
  def rollback(
      session: SparkSession,
      checkpoint: String,
      batch: Long,
      sinkPath: String,
      dryRun: Boolean
  ): String = CheckpointTools.using(session, checkpoint) { tools =>
    val done = new Rollback(tools).to(batch, Option(sinkPath).filter(_.nonEmpty), dryRun)
    AdminJson.ofFields(done, !dryRun)
  }

  /** Restores the files that a rollback set aside, if the query has not run since.
    *
    * @param aside
    *   the folder, as returned by `rollback`
    */
  def undoRollback(session: SparkSession, checkpoint: String, aside: String): String =
    CheckpointTools.using(session, checkpoint) { tools =>
      AdminJson.ofFields(new RollbackUndo(tools, aside)(), applied = true)
    }

  /** Copies a checkpoint for a new query.
    *
    * @param batch
    *   negative: the newest committed batch
    */
  def cloneCheckpoint(
      session: SparkSession,
      checkpoint: String,
      to: String,
      batch: Long,
      dryRun: Boolean
  ): String = CheckpointTools.using(session, checkpoint) { tools =>
    val clone = new CheckpointClone(tools, to, Option.when(batch >= 0)(batch), newQuery = true)
    AdminJson.of(if (dryRun) clone.plan() else clone.run(), !dryRun)
  }

  /** Copies a checkpoint for the same query, into the folder of its savepoints. */
  def savepoint(session: SparkSession, checkpoint: String, name: String): String = {
    if (!name.matches(SavepointName)) {
      throw new Invalid(
        "KEYFOLD_INVALID_ARGUMENT",
        s"Invalid name of a savepoint: '$name'; it takes letters, digits, dot, dash and underscore"
      )
    }
    CheckpointTools.using(session, checkpoint) { tools =>
      val to = s"${tools.logs.location}/keyfold/savepoints/$name"
      AdminJson.of(new CheckpointClone(tools, to, None, newQuery = false).run(), applied = true)
    }
  }

  /** Brings a copy of a checkpoint, for the same query elsewhere, to the newest committed batch. */
  def sync(session: SparkSession, checkpoint: String, to: String): String =
    CheckpointTools.using(session, checkpoint) { tools =>
      val start = System.nanoTime
      val synced = new CheckpointSync(tools, to).run()
      AdminJson.of(synced, (System.nanoTime - start) / 1000000)
    }

  /** Migrates the state of a stopped query from one of Spark's providers to Keyfold. */
  def migrate(session: SparkSession, checkpoint: String, dryRun: Boolean): String =
    CheckpointTools.using(session, checkpoint) { tools =>
      val migration = new Migration(tools, progress)
      AdminJson.ofFields(if (dryRun) migration.plan() else migration.apply(), !dryRun)
    }

  /** Undoes a migration. */
  def undoMigration(session: SparkSession, checkpoint: String, dryRun: Boolean): String =
    CheckpointTools.using(session, checkpoint) { tools =>
      val undo = new MigrationUndo(tools)
      AdminJson.of(if (dryRun) undo.plan() else undo.apply(), !dryRun)
    }

  /** Makes the checkpoint of a query that has not run, for state that is written to it.
    *
    * @param watermarkMs
    *   that the query begins with
    */
  def bootstrap(
      session: SparkSession,
      query: DataFrame,
      to: String,
      outputMode: String,
      watermarkMs: Long
  ): Unit = new Bootstrap(session, query, to, outputMode, watermarkMs).run()

  /** Makes the checkpoint of a changed query, with the state of a stopped one.
    *
    * @param query
    *   the changed one
    * @param to
    *   its checkpoint, where nothing may be
    * @param before
    *   the query as it was; null: not at hand
    * @param map
    *   operators and tables that take another's state, as `Choices.of` takes them, with the
    *   character of number 0 between two
    * @param set
    *   expressions for columns, likewise
    * @param sources
    *   sources that go on, likewise
    */
  def evolve(
      session: SparkSession,
      checkpoint: String,
      query: DataFrame,
      to: String,
      outputMode: String,
      before: DataFrame,
      map: String,
      set: String,
      sources: String,
      dryRun: Boolean
  ): String = CheckpointTools.using(session, checkpoint) { tools =>
    def lines(of: String) = of.split('\u0000').toSeq.filter(_.nonEmpty)
    val choices = Choices.of(lines(map), lines(set), lines(sources))
    val done = new Evolution(tools, query, to, outputMode, Option(before), choices).run(dryRun)
    AdminJson.ofFields(done, !dryRun)
  }

  /** Puts and deletes rows of a table of state.
    *
    * @param table
    *   the column family that has them
    * @param put
    *   rows to put in place of those of the same keys; null: none
    * @param delete
    *   keys of rows to delete; null: none
    * @param replaces
    *   whether all other rows of the table are deleted
    */
  def write(
      session: SparkSession,
      checkpoint: String,
      operator: Long,
      table: String,
      put: DataFrame,
      delete: DataFrame,
      replaces: Boolean,
      dryRun: Boolean
  ): String = CheckpointTools.using(session, checkpoint) { tools =>
    val it = new StateWrite(tools, operator, table, Option(put), Option(delete), replaces)
    AdminJson.ofFields(if (dryRun) it.plan() else it.run(), !dryRun)
  }

  /** Deletes files that a check has found to be unreferenced.
    *
    * @param paths
    *   relative to the checkpoint, one per line
    * @param ageMs
    *   minimum time since the last change of a file to be deleted
    */
  def vacuum(
      session: SparkSession,
      checkpoint: String,
      paths: String,
      ageMs: Long,
      dryRun: Boolean
  ): String = CheckpointTools.using(session, checkpoint) { tools =>
    val found = new Vacuum(tools, System.currentTimeMillis(), ageMs, progress)
      .run(paths.split('\n').toSeq.filter(_.nonEmpty), dryRun)
    AdminJson.of(tools.logs.location, found, !dryRun)
  }

  private[spark] def planOf(session: SparkSession, checkpoint: String, to: Int): CheckpointPlan =
    CheckpointTools.using(session, checkpoint) { tools =>
      val plan = new RescalePlanner(tools, to).plan()
      if (plan.refusals.isEmpty) new UndoneRescale(tools).redistributions(dryRun = true)
      plan
    }

  private[spark] def applyTo(
      session: SparkSession,
      checkpoint: String,
      to: Int
  ): CheckpointPlan = CheckpointTools.using(session, checkpoint) { tools =>
    def planned() = {
      val plan = new RescalePlanner(tools, to).plan()
      plan.refusals.headOption.foreach(throw _)
      plan
    }
    val before = planned()
    val isChanged = new UndoneRescale(tools).redistributions(dryRun = false)
    val plan = if (isChanged) planned() else before
    if (plan.isOpen) new OpenRescaler(tools, plan).run() else new Rescaler(tools, plan).run()
    plan
  }
}

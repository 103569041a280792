package io.keyfold.spark.admin.migrate

import io.keyfold.spark.checkpoint.{CheckpointLogs, CheckpointTools, Command}
import io.keyfold.spark.conf.ProviderClass

/** Why a checkpoint cannot be migrated as it is, and what to do about it.
  *
  * @param batch
  *   the last committed one
  */
private final class MigrationRefusals(tools: CheckpointTools, batch: Long) {
  import CheckpointLogs.FormatKey
  import ProviderClass.{BuiltIn, Keyfold}
  import tools.logs

  private val isLost = logs.settings(batch).forall(_.isEmpty)
  private val provider = logs.providerOf(batch).getOrElse("")

  /** Sentences; none if it can be migrated. */
  def all: Seq[String] = Seq(
    Option.when(provider == Keyfold)("Its state is already Keyfold's."),
    Option.when(isLost)(lostOffsets),
    Option.when(!isLost && provider != Keyfold && !BuiltIn.contains(provider))(
      s"Its state store provider is '$provider'; only ${BuiltIn.mkString(" and ")} can be read."
    ),
    Option.when(logs.isRunningHere)("Its query is running; stop it first."),
    logs.lastBegun.filter(_ > batch + 1).map(lostCommits),
    Option.when(logs.lastBegun.contains(batch + 1) && !logs.isKeyfolds(batch + 1))(begun),
    Option.when(logs.operators(batch).isEmpty)(withoutOperators)
  ).flatten

  private def lostOffsets =
    s"The offset log does not have batch $batch, its last. Restore ${logs.location}/offsets/$batch " +
      s"from a copy. " + (
        if (new MigrationUndo(tools).plan().refusals.isEmpty)
          s"Or undo the earlier migration, whose batch it is, by `$undo`, and migrate again."
        else
          s"Or delete ${logs.location}/commits/$batch, which drops the batch, and run `$again` again: " +
            "the input of that batch is then read again, and the sink gets its rows again."
      )

  private def lostCommits(begun: Long) =
    s"The commit log ends at batch $batch, and the offset log at $begun: entries are lost. Restore " +
      "them from a copy. " + (
        if ((begun to begun - 2 by -1).forall(logs.isKeyfolds))
          "Without them nothing says which files have the state that Keyfold has written since."
        else if (logs.isKeyfolds(begun)) s"Or undo the earlier migration by `$undo`."
        else s"Or: $once Spark runs batch $begun again and stops. Then migrate."
      )

  private def begun =
    s"Batch ${batch + 1} was started but not committed. $once it finishes that batch with its " +
      "current provider and stops. Then migrate. If it fails because its state cannot be read, " +
      s"delete ${logs.location}/offsets/${batch + 1}, which drops the batch, and run `$again` again: " +
      "it says what cannot be read."

  private def withoutOperators =
    if (logs.hasState)
      "Spark's description of its operators is lost, or it ran on a Spark before 4.0. " +
        "`keyfold evolve` takes it from the query, and migrates the state on the way. Or: " +
        s"$once Spark writes the description again. Then migrate."
    else
      "It has no state. If its query keeps state, the folder state is lost: restore it from a copy, " +
        "or start with a new checkpoint location: no batch is left to go back to."

  private def once =
    s"Set $FormatKey=${logs.formatOf(batch)} for the query, and start it once with the trigger " +
      "AvailableNow:"

  private def again = Command.migrate(logs.location)
  private def undo = Command.undoMigrate(logs.location)
}

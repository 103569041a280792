package io.keyfold.spark.admin.migrate

import java.util.Arrays

import scala.util.Using

import io.keyfold.errors.Invalid
import io.keyfold.format.{FileKind, Layout}
import io.keyfold.spark.checkpoint.CheckpointFiles.FileSize
import io.keyfold.spark.checkpoint.{CheckpointTools, Command, EnteredBatches, IfReadable}

/** Undoes a migration, finished or not: the query continues with its old provider, whose state is
  * complete.
  *
  * Also deletes the files that Keyfold wrote: HDFSBacked would take a snapshot of that name for its
  * own. So the migration's entry in the offset log, which keeps HDFSBacked out, is deleted after
  * them, and the one in the commit log first. After a failure at any point it can be run again.
  *
  * The log of a file sink may have the migration's batch, from a start since, and would skip the
  * next one: it goes there first.
  */
final class MigrationUndo(tools: CheckpointTools) {
  import CheckpointTools.{progress, requireNone}
  import tools.{files, logs}

  private val entered = new EnteredBatches(files)

  private lazy val last =
    logs.lastBegun.filter(batch => !isOpen(batch)).orElse(logs.lastBegun.map(_ - 1))
  private lazy val own = last.filter(logs.isKeyfolds)

  /** The last batch of the old provider. */
  private lazy val before = own.fold(last)(batch => Some(batch - 1))

  /** The batches that the logs have since; none if the migration had not begun one. */
  private lazy val since = (before.getOrElse(-1L) + 1) to logs.lastInLogs.getOrElse(-1L)

  /** Whether the offset log has lost the first of these, so that only files can say whose it is. */
  private lazy val isLost = since.nonEmpty && own.isEmpty

  /** The files to delete, or why the undo is refused. Reads only. */
  def plan(): UndoPlan = {
    val refusals = Seq(
      logs.isRunningHere -> "Its query is running; stop it first.",
      !before.exists(logs.isBuiltIn) ->
        ("Its last batch is not that of a migration. After the query has run with Keyfold, a " +
          "migration cannot be undone."),
      (isLost && !isOfMigration) ->
        (s"The offset log lost its entries after batch ${before.getOrElse("none")}, and no file of " +
          "Keyfold's says that they are a migration's. Restore them from a copy."),
      (since.nonEmpty && before.exists(logs.isBuiltIn) && !canForget) ->
        ("The log of the file sink has later batches than the query, or has compacted that batch with " +
          "earlier ones.")
    ).collect { case (true, reason) => reason }
    UndoPlan(
      logs.location,
      own.getOrElse(-1L),
      before.flatMap(logs.providerOf).getOrElse(""),
      if (refusals.isEmpty) written else Nil,
      refusals
    )
  }

  /** Runs the undo.
    *
    * @return
    *   the files deleted
    * @throws io.keyfold.errors.Invalid
    *   if it is refused
    */
  def apply(): UndoPlan = {
    val plan = this.plan()
    val task = s"undo a migration of ${logs.location}"
    requireNone(plan.refusals, "KEYFOLD_MIGRATE_REFUSED", task)
    requireStill(logs.lastInLogs, since.lastOption)
    for (batch <- since.reverse) {
      progress(s"deleting batch $batch from the logs")
      sinks.foreach(_.forget(batch))
      files.delete(s"commits/$batch")
      if (batch > since.head) files.delete(s"offsets/$batch")
    }
    requireStill(logs.lastBegun, since.headOption.filter(_ => !isLost))
    progress(s"deleting ${plan.files.size} files of Keyfold's")
    tools.parallel(plan.files)(file => files.delete(file.path))
    since.headOption.foreach { batch =>
      files.delete(s"offsets/$batch")
      entered.remove(batch)
    }
    plan
  }

  /** A query that goes on meanwhile needs the files.
    *
    * @param expected
    *   the migration's batch, or None if it has none
    */
  private def requireStill(last: Option[Long], expected: Option[Long]): Unit =
    if (last != expected.orElse(before)) {
      throw new Invalid(
        "KEYFOLD_CONCURRENT_UPDATE",
        s"Cannot undo a migration of ${logs.location}: another process has begun batch " +
          s"${last.getOrElse("none")} meanwhile. No file of state was deleted. Stop it, and run " +
          s"`${Command.fsck(logs.location)}`."
      )
    }

  /** Whether it is a batch that Keyfold has begun, after its first, and has not committed: it is
    * dropped, as a rollback does.
    */
  private def isOpen(batch: Long) = !logs.lastCommitted.exists(_ >= batch) &&
    logs.isKeyfolds(batch) && logs.isKeyfolds(batch - 1)

  /** Logs in which a start has entered the migration's batch. With output it is another query's. */
  private lazy val sinks = since.headOption.toSeq.flatMap { own =>
    entered.foldersOf(own).flatMap(logs.fileSink).filterNot { sink =>
      IfReadable(s"the files of batch $own")(sink.hasOutput(own)).contains(true)
    }
  }

  private def canForget = sinks.forall(_.canForget(since.head, since.last))

  /** Whether the one batch whose offsets are lost has Keyfold's state. */
  private def isOfMigration = since.size == 1 &&
    written.exists(it => FileKind.parse(it.name).exists(_._1.version == since.head + 1))

  /** The other provider has no file of a version after its last batch, but may have older ones of
    * the same names; there the magic bytes decide, and where it is not known which batch was its
    * last. A file without any is worth nothing to either.
    */
  private lazy val written: Seq[FileSize] = {
    val named =
      files
        .walk("state")
        .flatMap(file => FileKind.parse(file.name).map(it => file -> it._1.version))
    val found = tools.parallel(named) { case (file, version) =>
      val isNew = before.exists(version > _ + 1) && (!isLost || file.bytes == 0)
      Option.when(isNew || isKeyfolds(file))(file)
    }
    found.flatten
  }

  private def isKeyfolds(file: FileSize) = {
    val magic = Layout.HeaderMagic
    file.bytes >= magic.length && Using.resource(tools.blobs.open(file.path)) { reader =>
      Arrays.equals(reader.read(0, magic.length), magic)
    }
  }
}

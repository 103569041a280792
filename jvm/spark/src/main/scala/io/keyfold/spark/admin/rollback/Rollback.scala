package io.keyfold.spark.admin.rollback

import java.util.{Arrays, UUID}

import io.keyfold.errors.{CorruptFile, ForeignFile, MissingFile, RescaleRefused, UnreadableVersion}
import io.keyfold.format.{PlanName, RescalePlan}
import io.keyfold.model.StoreLocation
import io.keyfold.spark.admin.rescale.{OpenPlan, OpenPlans, UnfinishedRescale}
import io.keyfold.spark.checkpoint.{CheckpointLogs, CheckpointTools, Command, FileSink, QueryId}

/** Rolls a stopped query back to an earlier batch that its checkpoint still has, even one from
  * before a rescale. Newer files are not deleted but set aside, and can be restored until the query
  * has run.
  *
  * Log entries are moved first, newest batch first, commit before offsets: after a failure at any
  * point the checkpoint is at some batch, and the rollback can be undone. State files, which no log
  * lists any more, are next, and plans of rescales last: they protect old files from deletion. The
  * log of a file sink goes back at the very end, and forward first: while it is ahead of the
  * checkpoint the query is refused at its start, and were it behind, output would be lost.
  */
private[admin] final class Rollback(tools: CheckpointTools) {
  import CheckpointTools.progress
  import Rollback._
  import tools.{blobs, files, logs, parallel}

  /** @param sinkPath
    *   folder of the query's file sink, whose log is to go back too
    * @param dryRun
    *   only report the files to set aside
    * @throws io.keyfold.errors.RescaleRefused
    *   if the batch no longer exists, or the query runs
    */
  def to(batch: Long, sinkPath: Option[String], dryRun: Boolean): RolledBack = {
    requireStopped(logs)
    val last = logs.lastInLogs.getOrElse(-1L)
    val sink = sinkPath.map(path => logs.fileSink(path).getOrElse(throw noSink(path)))
    val output = sink.toSeq.flatMap(_.entriesAfter(batch))
    if (batch < 0 || batch > last || batch == last && output.isEmpty) {
      throw refused(s"batch $batch is not before the last one, which is $last")
    }
    sink.filterNot(_.canEndAt(batch)).foreach(it => throw compacted(it, batch))
    if (output.nonEmpty) sink.foreach(requireOwn(_, batch, last))
    requireWhole(batch)
    requireState(batch)
    val name = s"rollback-$batch-${UUID.randomUUID}"
    val aside = Aside.ofCheckpoint(logs.location, name, logs.hadoopConf, parallel)
    val ofLogs =
      for (taken <- last until batch by -1; log <- Seq("commits", "offsets")) yield s"$log/$taken"
    val (ofState, ofRescales) = (stateFiles(batch), plans(batch))
    val warnings = sink.map(warningOf(_, last)).toSeq
    if (dryRun) {
      val newer = ofLogs ++ ofState ++ ofRescales
      val toTake = countOf(newer)(aside.canTake) + output.length
      RolledBack(logs.location, batch, last, None, toTake, sink.map(_.folder), warnings)
    } else {
      progress(s"rolling back from batch $last to $batch")
      aside.buildOn(s"offsets/$batch")
      newId(aside)
      sink.foreach(it => aside.noteSink(it.folder))
      val rescales = new OpenPlans(tools, batch + 1).readable.filterNot(_.isRedistribution)
      rescales.foreach(end(_, aside))
      val own =
        ofLogs.count(aside.take) + countOf(ofState)(aside.take) + ofRescales.count(aside.take)
      // Listed again: a driver elsewhere may have added to it.
      val ofOutput = sink.fold(0) { it =>
        it.entriesAfter(batch).count(Aside.ofSink(it.folder, name, logs.hadoopConf).take)
      }
      val taken = own + ofOutput
      progress(s"set $taken files aside in keyfold/$name")
      RolledBack(logs.location, batch, last, Some(name), taken, sink.map(_.folder), warnings)
    }
  }

  /** Gives the query a new id. The batches that come again have other input, and sinks that go by
    * id and number of a batch, as Delta's and Iceberg's do, would take them for those they have.
    * This is first: where a rollback breaks off and is not repeated, rows come twice rather than
    * not at all.
    */
  private def newId(aside: Aside): Unit = if (aside.canTake(QueryId.Place)) {
    aside.copy(QueryId.Place)
    val fresh = QueryId.fresh()
    files.replace(QueryId.Place, fresh)
    // Some file managers keep a file that is there, and do not say so.
    if (!files.read(QueryId.Place).exists(Arrays.equals(_, fresh))) {
      files.delete(QueryId.Place)
      files.write(QueryId.Place, fresh)
    }
  }

  /** Makes a rescale before the batch that is set aside final, before anything else is moved:
    * undone when that batch has begun again, it would put the old entries into the logs. A
    * redistribution changes none of the batch's own, and knows what the batch before has left.
    */
  private def end(rescale: OpenPlan, aside: Aside): Unit = {
    val path = rescale.plan.name.path
    aside.copy(path)
    files.replace(path, RescalePlan.encode(rescale.ended))
  }

  /** Only the end of its log shows whether a file sink is the query's. */
  private def requireOwn(sink: FileSink, batch: Long, last: Long): Unit = {
    val ends = sink.lastBatch.getOrElse(-1L)
    val committed = logs.lastCommitted.getOrElse(-1L)
    val misfit =
      if (!(ends + 1 to committed).forall(logs.isOwn))
        Some(
          s"the newest committed batch is $committed: it is the log of another query, or has lost entries"
        )
      // A log with a gap cannot end there: it only goes further back.
      else if (ends > last && batch < committed)
        Some(
          s"the checkpoint at $last: it is the log of another query, or the query went back without it"
        )
      else None
    for (reason <- misfit)
      throw refused(
        s"the log of the file sink in ${sink.folder} ends at batch $ends, and $reason. If it is this " +
          s"query's, run `${Command.rollback(logs.location, batch)}`; the next " +
          "start then says how the log goes back"
      )
  }

  private def warningOf(sink: FileSink, last: Long) = {
    val later =
      s"files that later batches have written to ${sink.folder} stay there; Spark reads only " +
        "those that the sink's log has, other readers see all"
    sink.lastBatch.filter(_ > last).fold(later) { ends =>
      s"the log of the file sink in ${sink.folder} ends at batch $ends, and the checkpoint at $last: " +
        s"make sure that no other query writes there; $later"
    }
  }

  /** The files of a rescale before an open batch must not be set aside half way. What a rescale
    * whose plan is damaged has left of the batch, is for [[requireState]].
    */
  private def requireWhole(batch: Long): Unit =
    for {
      begun <- logs.lastBegun
      if begun > batch && new OpenPlans(tools, begun).readable.nonEmpty
      reason <- new UnfinishedRescale(tools).open(begun)
    } throw refused(reason)

  /** To how many paths it applies, asked at the same time. */
  private def countOf(paths: Seq[String])(f: String => Boolean) =
    parallel(paths)(f).count(identity)

  /** Checks that all files of the batch's state exist. */
  private def requireState(batch: Long): Unit = {
    if (!logs.isKeyfolds(batch)) {
      throw refused(s"batch $batch is no longer in the offset log, or is of another provider")
    }
    if (!logs.hasCommitted(batch)) throw refused(s"batch $batch is no longer in the commit log")
    if (!logs.canStartAfter(batch)) {
      throw refused(
        s"Spark could not start after batch $batch, since it needs the offsets of batch " +
          s"${batch - 1} too, which were deleted; the oldest batch to go back to is ${batch + 1}"
      )
    }
    try tools.stateOf(batch, logs.ids(batch))
    catch {
      case e @ (_: MissingFile | _: CorruptFile | _: ForeignFile | _: UnreadableVersion) =>
        throw refused(
          s"the state of batch $batch is not whole. ${e.getMessage} `${Command.fsck(logs.location)}` " +
            "says which batches are whole"
        )
    }
    ()
  }

  /** State and operator metadata of later batches, in all partitions that ever existed. */
  private def stateFiles(batch: Long): Seq[String] = logs.operators(batch).flatMap { operator =>
    val metadata = logs.operatorVersions(operator.id).filter(_ > batch)
    val partitions = logs.partitionFolders(operator.id)
    val state = for (store <- operator.stores) yield parallel(partitions) { partition =>
      tools.filesSince(batch + 2, StoreLocation(operator.id, partition, store))
    }.flatten
    metadata.map(b => s"state/${operator.id}/_metadata/v2/$b") ++ state.flatten
  }

  /** Manifests first, then plans. */
  private def plans(batch: Long): Seq[String] = {
    val (ofPlans, manifests) = blobs
      .list(PlanName.Folder)
      .filter(PlanName.ofFile(_).exists(_.stateBatch > batch))
      .partition(PlanName.parse(_).nonEmpty)
    (manifests ++ ofPlans).map(name => s"${PlanName.Folder}/$name")
  }

  private def noSink(folder: String) =
    refused(
      s"the folder $folder has no log of a file sink, _spark_metadata. A Delta or Iceberg table is not " +
        "recognised if Python cannot list its folder"
    )

  private def compacted(sink: FileSink, batch: Long) = refused(
    s"the log of the file sink in ${sink.folder} cannot be taken back to batch $batch, since Spark has " +
      "compacted the batches before it into a later entry and deleted their own. To go back without it, " +
      s"run `${Command.rollback(logs.location, batch)}`, and let the query write " +
      "to a new folder"
  )

  private def refused(reason: String) = Rollback.refused(logs, reason)
}

private[rollback] object Rollback {
  def requireStopped(logs: CheckpointLogs): Unit = if (logs.isRunningHere) {
    throw refused(logs, "the query runs in this Spark application; stop it first")
  }

  def refused(logs: CheckpointLogs, reason: String): RescaleRefused =
    new RescaleRefused("KEYFOLD_ROLLBACK_REFUSED", s"Cannot roll back ${logs.location}: $reason.")
}

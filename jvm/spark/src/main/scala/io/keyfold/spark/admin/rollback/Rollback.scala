package io.keyfold.spark.admin.rollback

import java.util.UUID

import io.keyfold.errors.RescaleRefused
import io.keyfold.format.{FileKind, Manifest, RescalePlan}
import io.keyfold.io.BlobStore
import io.keyfold.model.StoreLocation
import io.keyfold.rescale.StorePlanner
import io.keyfold.spark.admin.rescale.UnfinishedRescale
import io.keyfold.spark.conf.ProviderClass
import org.apache.spark.sql.keyfold.{CheckpointFiles, CheckpointLogs}

/** Rolls a stopped query back to an earlier batch that its checkpoint still has, even one from
  * before a rescale. Newer files are not deleted but set aside, and can be restored until the query
  * has run.
  *
  * Log entries are moved first, newest batch first, commit before offsets: after a failure at any
  * point the checkpoint is at some batch, and the rollback can be undone. State files, which no log
  * lists any more, are next, and plans of rescales last: they protect old files from deletion.
  */
private[admin] final class Rollback(
    logs: CheckpointLogs,
    blobs: BlobStore,
    files: CheckpointFiles,
    parallel: StorePlanner.Parallel,
    progress: String => Unit
) {
  import Rollback._

  /** @param dryRun
    *   only report the files to set aside
    * @throws io.keyfold.errors.RescaleRefused
    *   if the batch no longer exists, or the query runs
    */
  def to(batch: Long, dryRun: Boolean): RolledBack = {
    requireStopped()
    val last = (logs.lastBegun ++ logs.lastCommitted).maxOption.getOrElse(-1L)
    if (batch < 0 || batch >= last) {
      throw refused(s"batch $batch is not before the last one, which is $last")
    }
    requireWhole(batch)
    requireState(batch)
    val aside =
      new Aside(logs.location, s"rollback-$batch-${UUID.randomUUID}", logs.hadoopConf)
    val ofLogs =
      for (taken <- last until batch by -1; log <- Seq("commits", "offsets")) yield s"$log/$taken"
    val (ofState, ofRescales) = (stateFiles(batch), plans(batch))
    if (dryRun) {
      val newer = ofLogs ++ ofState ++ ofRescales
      RolledBack(logs.location, batch, last, None, countOf(newer)(aside.canTake))
    } else {
      progress(s"rolling back batches $last to ${batch + 1}")
      aside.buildOn(s"offsets/$batch")
      val taken =
        ofLogs.count(aside.take) + countOf(ofState)(aside.take) + ofRescales.count(aside.take)
      progress(s"set $taken files aside in keyfold/${aside.name}")
      RolledBack(logs.location, batch, last, Some(aside.name), taken)
    }
  }

  /** Restores the files that a rollback set aside.
    *
    * @param name
    *   of their folder
    * @throws io.keyfold.errors.RescaleRefused
    *   if the query has run since, or a later rollback has not been undone
    */
  def undo(name: String): RolledBack = {
    requireStopped()
    val aside = new Aside(logs.location, name, logs.hadoopConf)
    val batch = name match {
      case Name(batch) if aside.exists => batch.toLong
      case _ => throw refused(s"there is no folder keyfold/$name of a rollback")
    }
    val all = aside.files
    val files = all.zip(parallel(all.indices)(i => aside.isBoth(all(i)))).collect {
      case (path, false) => path
    }
    val (ofLogs, others) = files.partition(_.matches("(commits|offsets)/\\d+"))
    val byBatch = ofLogs.groupBy(path => path.drop(path.indexOf('/') + 1).toLong)
    val next = byBatch.keys.minOption.getOrElse(batch + 1)
    if (logs.lastBegun.exists(_ >= next) && !logs.lastBegun.contains(next)) {
      throw refused(s"the query has run since: its last batch is ${logs.lastBegun.get}")
    }
    if (
      logs.lastBegun.contains(next) && byBatch.get(next).exists(_.exists(_.startsWith("offsets/")))
    ) {
      throw refused(s"the query has run since: its last batch is $next")
    }
    // Its entry in the offset log has the time at which a batch began, so no two are equal.
    if (!aside.buildsOn(s"offsets/$batch")) {
      throw refused(
        s"batch $batch, which the files of $name build on, was set aside by a later rollback or made " +
          "again since. Undo the later rollback first; if the query has run since, there is no way back"
      )
    }
    progress(s"putting ${files.length} files back")
    val (plans, state) = others.partition(_.startsWith("keyfold/"))
    plans.foreach(aside.giveBack)
    parallel(state.indices)(i => aside.giveBack(state(i)))
    for (taken <- byBatch.keys.toSeq.sorted; path <- byBatch(taken).sorted.reverse) {
      aside.giveBack(path)
    }
    val last = byBatch.keys.maxOption.getOrElse(batch)
    RolledBack(logs.location, last, batch, Some(name), files.length)
  }

  /** The files of a rescale before an open batch must not be set aside half way. */
  private def requireWhole(batch: Long): Unit =
    for {
      begun <- logs.lastBegun if begun > batch
      reason <- new UnfinishedRescale(logs, blobs, files).open(begun)
    } throw refused(reason)

  /** To how many paths it applies, asked at the same time. */
  private def countOf(paths: Seq[String])(f: String => Boolean) =
    parallel(paths.indices)(i => f(paths(i))).count(identity)

  private def requireStopped(): Unit =
    if (logs.isRunningHere) throw refused("the query runs in this Spark application; stop it first")

  /** Checks that all files of the batch's state exist. */
  private def requireState(batch: Long): Unit = {
    val provider = logs.settings(batch).flatMap(_.get(CheckpointLogs.ProviderKey))
    if (!provider.contains(ProviderClass.Keyfold)) {
      throw refused(s"batch $batch is no longer in the offset log, or is of another provider")
    }
    if (!logs.hasCommitted(batch)) throw refused(s"batch $batch is no longer in the commit log")
    if (!logs.canStartAfter(batch)) {
      throw refused(
        s"Spark could not start after batch $batch, since it needs the offsets of batch " +
          s"${batch - 1} too, which were deleted; the oldest batch to go back to is ${batch + 1}"
      )
    }
    val partitions = logs.partitions(batch).getOrElse(0)
    val planner = new StorePlanner(blobs, partitions, partitions, batch + 1, parallel)
    for (operator <- logs.operators(batch); (store, index) <- operator.stores.zipWithIndex) {
      progress(s"reading operator ${operator.id} (${operator.name}) store $store")
      planner.plan(operator.id, store, logs.ids(batch, operator, index))
    }
  }

  /** State and operator metadata of later batches, in all partitions that ever existed. */
  private def stateFiles(batch: Long): Seq[String] = logs.operators(batch).flatMap { operator =>
    val metadata = logs.operatorVersions(operator.id).filter(_ > batch)
    val partitions = logs.partitionFolders(operator.id)
    val state = for (store <- operator.stores) yield parallel(partitions.indices) { i =>
      val folder = StoreLocation(operator.id, partitions(i), store).folder
      blobs
        .list(folder)
        .filter(FileKind.parse(_).exists(_._1.version > batch + 1))
        .map(name => s"state/$folder/$name")
    }.flatten
    metadata.map(b => s"state/${operator.id}/_metadata/v2/$b") ++ state.flatten
  }

  /** Manifests first, then plans. */
  private def plans(batch: Long): Seq[String] = {
    val listed = blobs.list(RescalePlan.Folder)
    val found = listed.filter(Manifest.parseName(_).exists(_._1 > batch)) ++
      listed.filter(RescalePlan.parseName(_).exists { case (number, id) =>
        RescalePlan.stateBatch(number, id) > batch
      })
    found.map(name => s"keyfold/$name")
  }

  private def refused(reason: String) =
    new RescaleRefused("KEYFOLD_ROLLBACK_REFUSED", s"Cannot roll back ${logs.location}: $reason.")
}

private[admin] object Rollback {
  private val Name = "rollback-(\\d+)-[0-9a-f-]+".r
}

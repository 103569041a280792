package io.keyfold.bench.cell

import java.nio.file.Files

import scala.jdk.CollectionConverters._
import scala.util.Using

import io.keyfold.bench.Figure

/** Puts while maintenance writes a snapshot on a thread of its own: their rate, divided by the rate
  * without. Commits are not in it: they come after the snapshot.
  */
final class PutDuringSnapshot(job: Job)
    extends StoreWork(job, Layout.plain(job.shape), PutDuringSnapshot.SnapshotsSoon) {
  import PutDuringSnapshot._

  private val rows = new Rows(shape, Rows.shuffled(job.rows, math.min(job.rows, BatchRows)))

  override def round(number: Int): Seq[Figure] = {
    rows.refresh(number + 1)
    // As many versions as make the next snapshot due with any provider.
    val without = (0 to Deltas).map { _ =>
      val to = store.begin()
      val start = System.nanoTime
      putAll(to, rows)
      val seconds = (System.nanoTime - start) / 1e9
      store.commit(to)
      rows.keys.length / seconds
    }
    val to = store.begin()
    val before = snapshots()
    val maintenance = new Thread(() => store.maintain(), "maintenance")
    var puts = 0L
    val start = System.nanoTime
    maintenance.start()
    while (maintenance.isAlive) {
      val i = (puts % rows.keys.length).toInt
      to.put(rows.keys(i), rows.values(i))
      puts += 1
    }
    val seconds = (System.nanoTime - start) / 1e9
    maintenance.join()
    store.commit(to)
    require(snapshots() != before, "maintenance wrote no snapshot")
    Seq(
      Figure("ratio", "", puts / seconds / Figure("", "", without).median),
      Figure("snapshot", "ms", seconds * 1e3)
    )
  }

  /** The round has done it. */
  override def settle(): Unit = ()

  private def snapshots(): Set[String] = Using.resource(Files.walk(store.folder)) {
    _.iterator.asScala
      .map(_.getFileName.toString)
      .filter(name => name.endsWith(".snapshot") || name.endsWith(".zip"))
      .toSet
  }
}

object PutDuringSnapshot {
  private val BatchRows = 200000
  private val Deltas = 2

  private val SnapshotsSoon =
    Map("spark.sql.streaming.stateStore.minDeltasForSnapshot" -> Deltas.toString)
}

package io.keyfold.bench.cell

import java.nio.file.{Files, Path}
import java.util.Random

import scala.jdk.CollectionConverters._

import io.keyfold.bench.{Effort, Figure, Provider}

/** What maintenance writes: batches that each change one of `share` rows, with Spark's maintenance
  * after every fifth. Bytes that the process writes, to the checkpoint and to local files, in a
  * batch with maintenance and in a commit alone; bytes of the checkpoint at the end, with 100
  * retained versions; and the time of a load then.
  *
  * @param share
  *   rows of the state for each row of a batch
  */
final class Upkeep(job: Job, share: Int)
    extends StoreWork(job, Layout.plain(job.shape), Upkeep.settingsOf(job.provider)) {
  import Upkeep._

  private val random = new Random(Seed)
  private val perBatch = job.rows / share
  private var batches = 0

  override def round(number: Int): Seq[Figure] = {
    (1 to WarmUps).foreach(_ => batch())
    val alone = written((1 to WarmUps).foreach(_ => batch())) / WarmUps
    store.maintain()
    // As many as change two thirds of the rows, so that all that comes in turn has come.
    val planned = math.max(LeastBatches, share * 2 / 3)
    val end = System.nanoTime + MostSeconds * 1000000000L
    var done = 0
    val upkept = written {
      while (done < planned && System.nanoTime < end) {
        batch()
        done += 1
        if (done % BatchesPerMaintenance == 0) store.maintain()
      }
    }
    val files = ProcessMemory.now(store.folder).files
    store.reopen()
    val start = System.nanoTime
    store.reading(_.iterator().hasNext)
    val loadMs = (System.nanoTime - start) / 1e6
    Seq(
      Figure("written", "KiB", upkept / done / 1024),
      Figure("amplification", "ratio", upkept / done / alone),
      Figure("checkpoint", "MiB", files.toDouble / (1 << 20)),
      Figure("load", "ms", loadMs)
    )
  }

  private def batch(): Unit = {
    batches += 1
    val rows = new Rows(shape, Array.fill(perBatch)(random.nextInt(job.rows)))
    rows.refresh(batches)
    store.batch(putAll(_, rows))
  }

  override def rounds(effort: Effort): Int = 1
  override def warmUpSeconds(effort: Effort): Double = 0
}

object Upkeep {
  private val Seed = 20261128L
  private val WarmUps = 20
  private val LeastBatches = 300
  private val BatchesPerMaintenance = 5

  /** For providers whose batches take as long as the state is large. */
  private val MostSeconds = 180

  /** Checkpoint format v2 where there is one. */
  private def settingsOf(provider: Provider) =
    if (provider == Provider.Hdfs) Map.empty[String, String]
    else Map("spark.sql.streaming.stateStore.checkpointFormatVersion" -> "2")

  /** Bytes that this process has written with calls of the system while it did something. */
  private def written(body: => Unit): Double = {
    val before = writtenBytes()
    body
    (writtenBytes() - before).toDouble
  }

  private def writtenBytes(): Long = Files
    .readAllLines(Path.of("/proc/self/io"))
    .asScala
    .collectFirst { case line if line.startsWith("wchar:") => line.drop(7).trim.toLong }
    .getOrElse(sys.error("Cannot read wchar from /proc/self/io"))
}

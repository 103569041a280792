package io.keyfold.bench.cell

import io.keyfold.bench.{Effort, Figure}

/** Gets values of random rows and puts changed ones, in a state of four times the memory that the
  * provider is told to keep to; commit included. With what that memory really came to, above an
  * empty store in the same process.
  */
final class Spill(job: Job) extends Work {
  private val layout = Layout.plain(job.shape)
  private val store = {
    val settings = job.provider
      .bounded(Spill.budgetMebibytes(job.rows))
      .getOrElse(throw new Unsupported("it has no bound for the memory of state"))
    new BenchStore(job.provider, layout, settings)
  }
  private val ids = Rows.shuffled(job.rows, job.rows)
  private val perBatch = math.min(job.perBatch, Spill.RowsPerBatch)
  private var empty: ProcessMemory = _

  override def prepare(): Unit = {
    store.batch(_ => ())
    empty = ProcessMemory.now(store.folder)
    store.load(job.rows)
    store.maintain()
  }

  /** Other rows each time: those of the round before may have come back into memory. */
  override def round(number: Int): Seq[Figure] = {
    val from = Math.floorMod(number * perBatch, job.rows - perBatch + 1)
    val keys = ids.slice(from, from + perBatch).map(job.shape.key)
    val value = job.shape.emptyValue()
    val nanos = store.timed { to =>
      keys.foreach { key =>
        value.copyFrom(to.get(key))
        job.shape.change(value)
        to.put(key, value)
      }
    }
    val full = ProcessMemory.now(store.folder)
    Seq(
      Figure("time", "ns", nanos.toDouble / perBatch),
      Figure("anonymous", "MiB", (full.anonymous - empty.anonymous) / Spill.Mebibyte),
      Figure("file", "MiB", (full.mapped - empty.mapped) / Spill.Mebibyte)
    )
  }

  override def settle(): Unit = store.maintain()
  override def warmUpSeconds(effort: Effort): Double = math.min(effort.warmUpSeconds, 2)
  override def close(): Unit = store.close()
}

object Spill {
  private val Mebibyte = 1048576.0
  private val RowsPerBatch = 50000

  /** Of a row of shape int with its share of Keyfold's index. */
  private val BytesPerRow = 80L

  def budgetMebibytes(rows: Int): Int = math.max((rows * BytesPerRow / 4 >> 20).toInt, 1)
}

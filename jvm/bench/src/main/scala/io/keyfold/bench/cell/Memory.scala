package io.keyfold.bench.cell

import io.keyfold.bench.{Effort, Figure}

/** Memory and files of a state, per row, above those of an empty store in the same process: after
  * the rows have been put and two small batches have followed, so that a provider holds as many
  * versions as it ever does.
  */
final class Memory(job: Job) extends Work {
  private val layout = Layout.plain(job.shape)
  private val store = new BenchStore(job.provider, layout)

  /** Loads classes and code with another store. */
  override def prepare(): Unit = {
    val other = new BenchStore(job.provider, layout)
    other.load(Memory.WarmUpRows)
    other.close()
  }

  override def round(number: Int): Seq[Figure] = {
    store.batch(_ => ())
    val empty = ProcessMemory.now(store.folder)
    store.load(job.rows)
    val files = ProcessMemory.now(store.folder).files
    (1 to 2).foreach { salt =>
      val rows = new Rows(job.shape, Rows.shuffled(job.rows, 1000))
      rows.refresh(salt)
      store.batch(to => rows.keys.indices.foreach(i => to.put(rows.keys(i), rows.values(i))))
    }
    val full = ProcessMemory.now(store.folder)
    def perRow(name: String, bytes: Long) = Figure(name, "bytes", bytes.toDouble / job.rows)
    Seq(
      perRow("heap", full.heap - empty.heap),
      perRow("resident", full.resident - empty.resident),
      perRow("files", files - empty.files),
      perRow("local-files", full.localFiles - empty.localFiles)
    )
  }

  override def rounds(effort: Effort): Int = 1
  override def warmUpSeconds(effort: Effort): Double = 0
  override def close(): Unit = store.close()
}

object Memory {
  private val WarmUpRows = 100000
}

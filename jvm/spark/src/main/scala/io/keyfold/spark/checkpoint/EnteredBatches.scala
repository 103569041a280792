package io.keyfold.spark.checkpoint

/** Which batches of Keyfold's own the starts of a query have entered in the logs of its file sinks:
  * docs/FORMAT.md, section 12. No other file says that an entry is not the query's.
  */
private[spark] final class EnteredBatches(files: CheckpointFiles) {
  import EnteredBatches._

  private def all: Seq[Entered] = files.lines(Path).collect { case Line(batch, folder) =>
    Entered(batch.toLong, folder)
  }

  /** Batches that were entered in the log of this sink. */
  def in(folder: String): Seq[Long] = all.filter(_.folder == folder).map(_.batch)

  /** The sinks in whose logs this batch was entered. */
  def foldersOf(batch: Long): Seq[String] = all.filter(_.batch == batch).map(_.folder)

  /** Before the log is changed. */
  def add(batch: Long, folder: String): Unit = {
    val entered = Entered(batch, folder)
    val before = all
    if (!before.contains(entered)) write(before :+ entered)
  }

  /** After the batch is in no log any more. */
  def remove(batch: Long): Unit = {
    val before = all
    if (before.exists(_.batch == batch)) write(before.filter(_.batch != batch))
  }

  private def write(entered: Seq[Entered]): Unit =
    files.replaceLines(Path, entered.map(it => s"${it.batch} ${it.folder}"))
}

private object EnteredBatches {
  private val Path = "keyfold/sinks"
  private val Line = """(\d{1,18}) (.+)""".r

  private final case class Entered(batch: Long, folder: String)
}

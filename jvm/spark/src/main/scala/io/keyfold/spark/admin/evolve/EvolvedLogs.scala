package io.keyfold.spark.admin.evolve

import io.keyfold.spark.checkpoint.{CheckpointTools, LogEntry, RewrittenLogs}

/** Makes the last batch of one checkpoint that of another: its number, its time, its watermark, and
  * what was read of each source by then.
  *
  * @param from
  *   of the checkpoint that has the batch
  * @param made
  *   of the one to change, which nobody else uses
  * @param batch
  *   the number of the batch
  * @param sources
  *   which of the old checkpoint go on
  */
private final class EvolvedLogs(
    from: CheckpointTools,
    made: CheckpointTools,
    batch: Long,
    sources: SourcePairs
) {

  /** @param end
    *   the last batch that the new checkpoint has
    * @param ids
    *   of the state
    */
  def write(end: Long, ids: Map[Long, Array[Array[String]]]): Unit = {
    val begun = LogEntry.read(made.files, "offsets/0")
    val committed =
      new RewrittenLogs(made.logs, end).commit(made.files.read(s"commits/$end").get, ids)
    for (number <- 0L to end; log <- Seq("offsets", "commits"))
      made.files.delete(s"$log/$number")
    // A batch of Keyfold's own is known by having other settings than the one before.
    val first = Iterator.iterate(batch)(_ - 1).dropWhile(from.logs.isOwn).next()
    val isOwn = first < batch
    for (number <- math.max(math.min(first, batch - 1), 0) to batch) {
      val its = LogEntry.read(from.files, s"offsets/$number")
      val times = Seq("batchWatermarkMs", "batchTimestampMs").map(name => name -> its.field(name))
      val entry = if (isOwn && number < batch) its else begun.withFields(times: _*)
      made.files.replace(s"offsets/$number", withSources(entry, its).bytes)
    }
    made.files.replace(s"commits/$batch", committed.after.get)
    copySources()
  }

  private def withSources(entry: LogEntry, of: LogEntry) =
    entry.copy(sources =
      sources.lines.map(_.flatMap(of.sources.lift).getOrElse(LogEntry.NothingRead))
    )

  /** What sources keep in the checkpoint, such as the files that were read. */
  private def copySources(): Unit =
    for {
      (folder, old) <- sources.folders
      file <- from.files.walk(s"sources/$old")
      bytes <- from.files.read(file.path)
    } made.files.replace(s"sources/$folder/${file.path.stripPrefix(s"sources/$old/")}", bytes)
}

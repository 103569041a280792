package io.keyfold.spark.checkpoint

import io.keyfold.format.RewrittenFile
import org.apache.spark.sql.keyfold.SparkShim

/** Spark's own files as they are with another number of partitions before an open batch, or with
  * other state before the next batch.
  *
  * @param last
  *   the last committed batch
  */
final class RewrittenLogs(logs: CheckpointLogs, last: Long) {
  import CheckpointLogs.stillThere
  import logs.{files, queryLogs}

  /** Those that change, in the order in which they are to be replaced. The offsets of the open
    * batch are last: until then Spark, which compares their number of partitions with that of the
    * batch before, does not start the query.
    *
    * @param ids
    *   of the new state, by operator, partition and store
    */
  def to(from: Int, to: Int, ids: Map[Long, Array[Array[String]]]): Seq[RewrittenFile] = {
    val entry = stillThere(s"${logs.location}/commits/$last", files.read(s"commits/$last"))
    val all = offsets(last, to) +: commit(entry, ids) +:
      (operators(last, from, to) ++ operators(last + 1, from, to)) :+ offsets(last + 1, to)
    // Metadata of an operator in one task stay as they are.
    all.filter(file => file.before.map(_.toSeq) != file.after.map(_.toSeq))
  }

  /** An entry of the commit log with other state. */
  def commit(entry: Array[Byte], ids: Map[Long, Array[Array[String]]]): RewrittenFile = {
    val after = SparkShim.withIds(queryLogs.decodeCommit(entry), ids)
    RewrittenFile(s"commits/$last", Some(entry), Some(queryLogs.encode(after)))
  }

  private def changed(path: String, content: Array[Byte]) =
    RewrittenFile(path, files.read(path), Some(content))

  private def offsets(batch: Long, to: Int) = {
    val settings = Map(CheckpointLogs.PartitionsKey -> to.toString)
    val after = SparkShim.withSettings(logs.requireOffsets(batch), settings)
    changed(s"offsets/$batch", queryLogs.encode(after))
  }

  /** The metadata that a batch is to have of the operators; of the open batch those that Spark has
    * written, since it does not write them again.
    */
  private def operators(batch: Long, from: Int, to: Int): Seq[RewrittenFile] =
    for {
      operator <- new OperatorMetadata(logs).rescaled(batch, from, to)
      if batch == last || logs.operatorVersions(operator.operatorInfo.operatorId).contains(batch)
    } yield changed(OperatorMetadata.pathOf(operator, batch), OperatorMetadata.encode(operator))
}

package org.apache.spark.sql.keyfold

import java.io.{ByteArrayInputStream, ByteArrayOutputStream, OutputStream}

import io.keyfold.format.RewrittenFile
import org.apache.hadoop.fs.{FSDataOutputStream, Path}
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.execution.streaming.state._

/** Spark's own files as they are with another number of partitions before an open batch, or with
  * other state before the next batch.
  *
  * @param last
  *   the last committed batch
  */
final class RewrittenLogs(
    session: SparkSession,
    logs: CheckpointLogs,
    files: CheckpointFiles,
    last: Long
) {
  import CheckpointLogs.stillThere

  private val offsets = new RewrittenLogs.Offsets(session, files.resolve("offsets"))
  private val commits = SparkShim.commitLog(session, files.resolve("commits")).get

  /** Those that change, in the order in which they are to be replaced. The offsets of the open
    * batch are last: until then Spark, which compares their number of partitions with that of the
    * batch before, does not start the query.
    *
    * @param ids
    *   of the new state, by operator, partition and store
    */
  def to(from: Int, to: Int, ids: Map[Long, Array[Array[String]]]): Seq[RewrittenFile] = {
    val all = changed(s"offsets/$last", offsetsOf(last, to)) +:
      commit(stillThere(s"${logs.location}/commits/$last", files.read(s"commits/$last")), ids) +:
      (operatorsOf(last, from, to) ++ operatorsOf(last + 1, from, to)) :+
      changed(s"offsets/${last + 1}", offsetsOf(last + 1, to))
    // Metadata of an operator in one task stay as they are.
    all.filter(file => file.before.map(_.toSeq) != file.after.map(_.toSeq))
  }

  /** An entry of the commit log with other state. */
  def commit(entry: Array[Byte], ids: Map[Long, Array[Array[String]]]): RewrittenFile = {
    val before = commits.deserialize(new ByteArrayInputStream(entry))
    val after = bytes(commits.serialize(SparkShim.withIds(before, ids), _))
    RewrittenFile(s"commits/$last", Some(entry), Some(after))
  }

  private def changed(path: String, content: Array[Byte]) =
    RewrittenFile(path, files.read(path), Some(content))

  private def offsetsOf(batch: Long, to: Int) = {
    val settings = Map(CheckpointLogs.PartitionsKey -> to.toString)
    val before = stillThere(s"${logs.location}/offsets/$batch", offsets.get(batch))
    bytes(offsets.write(SparkShim.withSettings(before, settings), _))
  }

  /** The metadata that a batch is to have of the operators; of the open batch those that Spark has
    * written, since it does not write them again.
    */
  private def operatorsOf(batch: Long, from: Int, to: Int): Seq[RewrittenFile] =
    for {
      operator <- logs.rescaledOperators(batch, from, to)
      id = operator.operatorInfo.operatorId
      if batch == last || logs.operatorVersions(id).contains(batch)
    } yield {
      val folder = new Path(s"state/$id")
      changed(
        OperatorStateMetadataV2.metadataFilePath(folder, batch).toString,
        bytes { out =>
          out.write(s"v${operator.version}\n".getBytes)
          val data = new FSDataOutputStream(out, null)
          OperatorStateMetadataUtils.serialize(data, operator)
          data.flush()
        }
      )
    }

  private def bytes(write: ByteArrayOutputStream => Unit) = {
    val out = new ByteArrayOutputStream
    write(out)
    out.toByteArray
  }
}

private object RewrittenLogs {

  /** Only its subclasses may write an entry to where they like. */
  private final class Offsets(session: SparkSession, path: Path)
      extends SparkShim.OffsetSeqLog(session, path.toString) {
    def write(entry: SparkShim.OffsetEntry, out: OutputStream): Unit = serialize(entry, out)
  }
}

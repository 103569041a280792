package org.apache.spark.sql.keyfold

import java.io.{ByteArrayInputStream, ByteArrayOutputStream, OutputStream}

import org.apache.hadoop.fs.Path
import org.apache.spark.sql.SparkSession

/** Spark's logs of a query, none of which need exist, and the form of their entries. */
final class QueryLogs(session: SparkSession, location: String) {
  import QueryLogs._

  private val offsetPath = new Path(location, "offsets")

  lazy val offsets: Option[SparkShim.OffsetSeqLog] = SparkShim.offsetLog(session, offsetPath)
  lazy val commits: Option[SparkShim.CommitLog] =
    SparkShim.commitLog(session, new Path(location, "commits"))

  def encode(entry: SparkShim.OffsetEntry): Array[Byte] =
    bytes(new Offsets(session, offsetPath).write(entry, _))

  def encode(entry: SparkShim.CommitEntry): Array[Byte] = bytes(commits.get.serialize(entry, _))

  def decodeCommit(entry: Array[Byte]): SparkShim.CommitEntry =
    commits.get.deserialize(new ByteArrayInputStream(entry))
}

private object QueryLogs {

  /** Only its subclasses may write an entry to where they like. */
  private final class Offsets(session: SparkSession, path: Path)
      extends SparkShim.OffsetSeqLog(session, path.toString) {
    def write(entry: SparkShim.OffsetEntry, out: OutputStream): Unit = serialize(entry, out)
  }

  private def bytes(write: OutputStream => Unit): Array[Byte] = {
    val out = new ByteArrayOutputStream
    write(out)
    out.toByteArray
  }
}

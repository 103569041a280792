package org.apache.spark.sql.keyfold

import java.io.{InputStream, OutputStream}
import java.nio.charset.StandardCharsets.UTF_8

import scala.io.Source

import org.apache.hadoop.fs.Path
import org.apache.spark.sql.SparkSession

/** Reads entries of both versions and writes those with ids in the second one, as Spark 4.2 does.
  * Here Spark's own log has the one version that the session's settings ask for, and does not read
  * the other.
  */
private final class CommitLogOfBothVersions(session: SparkSession, path: Path)
    extends SparkShim.CommitLog(session, path.toString) {

  override protected[sql] def deserialize(in: InputStream): SparkShim.CommitMetadata = {
    val lines = Source.fromInputStream(in, UTF_8.name).getLines()
    if (!lines.hasNext) throw new IllegalStateException("Incomplete log file in the commit log")
    SparkShim.MetadataVersionUtil.validateVersion(lines.next().trim, 2)
    SparkShim.CommitMetadata(lines.nextOption().getOrElse("{}"))
  }

  override protected[sql] def serialize(
      entry: SparkShim.CommitMetadata,
      out: OutputStream
  ): Unit = {
    val version = if (entry.stateUniqueIds.isEmpty) 1 else 2
    out.write(s"v$version\n${entry.json}".getBytes(UTF_8))
  }
}

package io.keyfold.spark.checkpoint

import java.util.UUID

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path

/** On HDFS, where the manager is Spark's own. */
class HdfsFileManagerSuite extends FileManagerSuiteBase with OnServer[HdfsServer] {
  override protected def start(): HdfsServer = HdfsServer.needed()

  override protected def races: Int = 10

  override protected def newPlace(): ManagedFolder =
    new Place(new Path(server.root, UUID.randomUUID.toString))

  private final class Place(folder: Path) extends ManagedFolder(folder, new Configuration) {

    /** Spark's manager leaves the temporary file of a write that was refused. */
    override def names: Set[String] = super.names.filterNot(_.startsWith("."))

    /** The name node knows of no scheme. */
    override def inMessages(name: String): String = path(name).toUri.getPath
  }
}

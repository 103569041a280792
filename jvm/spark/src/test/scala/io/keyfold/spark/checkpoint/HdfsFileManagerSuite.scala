package io.keyfold.spark.checkpoint

import java.util.UUID

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path
import org.scalatest.{BeforeAndAfterAll, Outcome}

/** On HDFS, where the manager is Spark's own. */
class HdfsFileManagerSuite extends FileManagerSuiteBase with BeforeAndAfterAll {
  private var server: HdfsServer = _

  override protected def withFixture(test: NoArgTest): Outcome = {
    if (server == null) server = HdfsServer.needed()
    super.withFixture(test)
  }

  override protected def afterAll(): Unit = if (server != null) server.close()

  override protected def races: Int = 10

  override protected def newPlace(): ManagedFolder = {
    val place = new Place(new Path(server.root, UUID.randomUUID.toString))
    place.manager.mkdirs(place.folder)
    place
  }

  private final class Place(folder: Path) extends ManagedFolder(folder, new Configuration) {

    /** Spark's manager leaves the temporary file of a write that was refused. */
    override def names: Set[String] = super.names.filterNot(_.startsWith("."))
  }
}

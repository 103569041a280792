package io.keyfold.spark

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path
import org.apache.spark.sql.keyfold.SparkShim
import org.apache.spark.sql.keyfold.TestNames.FileContextBasedCheckpointFileManager

/** Spark's own checkpoint file manager, which ends the JVM at once, as `kill -9` does, when an
  * entry of the commit log is to be written: its batch number is in [[HaltingFileManager.Key]].
  */
class HaltingFileManager(root: Path, conf: Configuration)
    extends FileContextBasedCheckpointFileManager(root, conf) {

  override def createAtomic(path: Path, overwrite: Boolean): SparkShim.CancellableStream = {
    val isCommit = path.getParent.getName == "commits"
    if (isCommit && path.getName == conf.get(HaltingFileManager.Key)) Runtime.getRuntime.halt(137)
    super.createAtomic(path, overwrite)
  }
}

object HaltingFileManager {
  val Key = "spark.keyfold.test.haltBeforeCommit"
}

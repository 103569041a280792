package io.keyfold.conformance

import io.keyfold.spark.KeyfoldCheckpointFileManager
import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path
import org.apache.spark.sql.execution.streaming.CheckpointFileManagerTestsOnLocalFs
import org.apache.spark.sql.keyfold.SparkShim

/** Spark's own tests of checkpoint file managers, for ours on a local disk. */
class FileManagerSuite extends CheckpointFileManagerTestsOnLocalFs {
  override def createManager(path: Path): SparkShim.CheckpointFileManager =
    new KeyfoldCheckpointFileManager(path, new Configuration)
}

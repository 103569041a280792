package io.keyfold.spark.checkpoint

import java.nio.file.Path

import io.keyfold.io.{BlobStore, LocalFilesSuiteBase}
import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs

/** The guarantees of files, over Spark's checkpoint file manager on a local file system. */
class HadoopBlobStoreSuite extends LocalFilesSuiteBase {
  override protected def storeAt(root: Path): BlobStore =
    new HadoopBlobStore(new fs.Path(root.toUri), new Configuration)
}

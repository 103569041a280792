package io.keyfold.spark.checkpoint

import java.util.UUID

import io.keyfold.io.{BlobStore, BlobStoreSuiteBase}
import org.apache.hadoop.fs.Path

/** The guarantees of files, on S3. */
class S3BlobStoreSuite extends BlobStoreSuiteBase with OnS3 {
  private var roots = Map.empty[BlobStore, Path]

  override protected def newStore(): BlobStore =
    storeAt(new Path(server.root, UUID.randomUUID.toString))

  override protected def reopened(store: BlobStore): BlobStore = storeAt(roots(store))

  private def storeAt(root: Path) = {
    val store = new HadoopBlobStore(root, server.conf())
    roots += store -> root
    store
  }
}

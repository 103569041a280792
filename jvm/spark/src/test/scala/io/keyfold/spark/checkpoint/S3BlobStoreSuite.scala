package io.keyfold.spark.checkpoint

import java.util.UUID

import io.keyfold.io.{BlobStore, BlobStoreSuiteBase}
import org.apache.hadoop.fs.Path
import org.scalatest.{BeforeAndAfterAll, Outcome}

/** The guarantees of files, on S3. */
class S3BlobStoreSuite extends BlobStoreSuiteBase with BeforeAndAfterAll {
  private var server: S3Server = _
  private var roots = Map.empty[BlobStore, Path]

  override protected def withFixture(test: NoArgTest): Outcome = {
    if (server == null) server = S3Server.needed()
    super.withFixture(test)
  }

  override protected def afterAll(): Unit = if (server != null) server.close()

  override protected def newStore(): BlobStore =
    storeAt(new Path(server.root, UUID.randomUUID.toString))

  override protected def reopened(store: BlobStore): BlobStore = storeAt(roots(store))

  private def storeAt(root: Path) = {
    val store = new HadoopBlobStore(root, server.conf())
    roots += store -> root
    store
  }
}

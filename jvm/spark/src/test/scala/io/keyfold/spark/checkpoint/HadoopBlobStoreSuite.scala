package io.keyfold.spark.checkpoint

import java.net.URI
import java.nio.file.{Files, Path}
import java.util.concurrent.atomic.AtomicInteger

import io.keyfold.io.{BlobStore, LocalFilesSuiteBase}
import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs
import org.apache.hadoop.fs.RawLocalFileSystem

/** The guarantees of files, over Spark's checkpoint file manager on a local file system. */
class HadoopBlobStoreSuite extends LocalFilesSuiteBase {
  import HadoopBlobStoreSuite._

  override protected def storeAt(root: Path): BlobStore =
    new HadoopBlobStore(new fs.Path(root.toUri), new Configuration)

  test("file systems that are a store's own, because Hadoop keeps none, end with it") {
    val conf = new Configuration
    conf.set("fs.own.impl", classOf[OwnFileSystem].getName)
    conf.setBoolean("fs.own.impl.disable.cache", true)
    val root = Files.createTempDirectory("keyfold-own")
    val store = new HadoopBlobStore(new fs.Path(s"own://$root"), conf)
    Files.createDirectory(root.resolve("f"))
    Files.writeString(root.resolve("f/a"), "a")
    assert(store.lengths("f") == Map("a" -> 1L))
    store.open("f/a").close()
    assert(alive.get > 0)
    store.close()
    assert(alive.get == 0)
  }
}

object HadoopBlobStoreSuite {
  private val alive = new AtomicInteger

  /** Counts those that have begun and not ended; says of itself that it is an object store's. */
  final class OwnFileSystem extends RawLocalFileSystem {
    override def getUri: URI = URI.create("own:///")
    override def getScheme: String = "own"

    override def initialize(uri: URI, conf: Configuration): Unit = {
      super.initialize(uri, conf)
      alive.incrementAndGet()
      ()
    }

    override def hasPathCapability(path: fs.Path, capability: String): Boolean =
      capability == ObjectFileManager.Capability || super.hasPathCapability(path, capability)

    override def close(): Unit = {
      super.close()
      alive.decrementAndGet()
      ()
    }
  }
}

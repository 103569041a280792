package io.keyfold.testkit

import java.nio.file.{Files, Path}

import io.keyfold.io.{BlobStore, LocalFilesSuiteBase}

class LocalBlobStoreSuite extends LocalFilesSuiteBase {
  override protected def storeAt(root: Path): BlobStore = new LocalBlobStore(root)

  test("files lie under the root by their path, with nothing beside them") {
    val store = newStore()
    store.write("0/3/7.delta")(_.write(5))
    val folder = roots(store).resolve("0/3")
    assert(Files.readAllBytes(folder.resolve("7.delta")).toSeq == Seq(5.toByte))
    val files = Files.list(folder)
    try assert(files.count() == 1)
    finally files.close()
  }
}

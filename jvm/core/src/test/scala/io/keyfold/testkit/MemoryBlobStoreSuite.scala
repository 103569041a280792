package io.keyfold.testkit

import io.keyfold.io.{BlobStore, BlobStoreSuiteBase}

class MemoryBlobStoreSuite extends BlobStoreSuiteBase {
  override protected def newStore(): BlobStore = new MemoryBlobStore

  /** The map is all there is to share. */
  override protected def reopened(store: BlobStore): BlobStore = store

  private def countsOf(store: MemoryBlobStore) = {
    val c = store.counts
    Seq(c.writes, c.opens, c.reads, c.readBytes, c.exists, c.lists, c.deletes)
  }

  test("operations are counted by kind") {
    val store = new MemoryBlobStore
    store.write("a/1")(_.write(Array[Byte](1, 2, 3)))
    val reader = store.open("a/1")
    reader.read(0, 3)
    reader.read(1, 1)
    store.exists("a/1")
    store.exists("a/2")
    store.exists("a/3")
    for (_ <- 1 to 4) store.list("a")
    for (_ <- 1 to 5) store.delete("a/1")
    assert(countsOf(store) == Seq(1, 1, 2, 4, 3, 4, 5))
    store.counts.reset()
    assert(countsOf(store) == Seq(0, 0, 0, 0, 0, 0, 0))
  }

  test("what a test does by itself is not counted") {
    val store = new MemoryBlobStore
    store.put("a/1", Array[Byte](1))
    store.update("a/1")(_ ++ Array[Byte](2))
    assert(store.bytes("a/1").toSeq == Seq[Byte](1, 2))
    assert(store.paths == Seq("a/1"))
    store.remove("a/1")
    assert(store.paths.isEmpty)
    assert(countsOf(store) == Seq(0, 0, 0, 0, 0, 0, 0))
  }

  test("bytes taken from the store can be changed without changing a file") {
    val store = new MemoryBlobStore
    val content = Array[Byte](1, 2)
    store.put("a", content)
    content(0) = 9
    store.bytes("a")(1) = 9
    val reader = store.open("a")
    reader.read(0, 2)(0) = 9
    assert(reader.read(0, 2).toSeq == Seq[Byte](1, 2))
  }

  test("an open reader keeps the bytes it was opened on") {
    val store = new MemoryBlobStore
    store.put("a", Array[Byte](1, 2))
    val reader = store.open("a")
    store.update("a")(_ => Array[Byte](3))
    store.remove("a")
    assert(reader.length == 2)
    assert(reader.read(0, 2).toSeq == Seq[Byte](1, 2))
  }
}

package io.keyfold.io

import java.io.{EOFException, FileNotFoundException, IOException}
import java.nio.charset.StandardCharsets.UTF_8
import java.util.concurrent.{Callable, CyclicBarrier, Executors, TimeUnit}

import scala.jdk.CollectionConverters._

import io.keyfold.testkit.SeededChecks
import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite

/** The guarantees of [[BlobStore]], G1 to G6, for one implementation.
  *
  * What a crash of the machine leaves (G2) and what other machines see (G3) no test here can show;
  * a second store over the same files stands in for both.
  */
abstract class BlobStoreSuiteBase extends AnyFunSuite with SeededChecks {

  /** An empty store. The suite that makes it cleans up after it. */
  protected def newStore(): BlobStore

  /** Another store over the same files, as another process would have it. */
  protected def reopened(store: BlobStore): BlobStore

  private val folder = "0/3"
  private val path = s"$folder/7.delta"
  private val old = "what was there".getBytes(UTF_8)
  private val fresh = "what has come instead of it".getBytes(UTF_8)

  private def write(store: BlobStore, path: String, bytes: Array[Byte]): Long =
    store.write(path)(_.write(bytes))

  private def bytesOf(store: BlobStore, path: String): Seq[Byte] = {
    val reader = store.open(path)
    try reader.read(0, reader.length.toInt).toSeq
    finally reader.close()
  }

  /** Files may lie beside ours whose names say that they are hidden. */
  private def listed(store: BlobStore, folder: String) =
    store.list(folder).filterNot(_.startsWith(".")).toSet

  private def assertAbsent(store: BlobStore, path: String): Unit = {
    assert(!store.exists(path))
    intercept[FileNotFoundException](store.open(path))
    assert(!store.list(path.take(path.lastIndexOf('/'))).contains(path.split('/').last))
    ()
  }

  test("G1: a file is not visible while it is being written") {
    val store = newStore()
    store.write(path) { out =>
      out.write(fresh)
      out.flush()
      assertAbsent(store, path)
      assertAbsent(reopened(store), path)
    }
    assert(store.exists(path))
  }

  test("G1: a file is visible whole once written, with the length that write returned") {
    val store = newStore()
    assert(write(store, path, fresh) == fresh.length)
    assert(bytesOf(store, path) == fresh.toSeq)
    assert(store.list(folder).contains("7.delta"))
  }

  test("G1: a file may be empty") {
    val store = newStore()
    assert(write(store, path, Array()) == 0)
    assert(store.exists(path))
    assert(bytesOf(store, path).isEmpty)
  }

  test("G1: a file may be larger than any buffer and be written in pieces") {
    val store = newStore()
    val piece = Array.tabulate[Byte](70001)(_.toByte)
    val length = store.write(path) { out =>
      for (_ <- 1 to 10) out.write(piece)
      out.write(1)
    }
    assert(length == 700011)
    assert(bytesOf(store, path) == Seq.fill(10)(piece).flatten :+ 1.toByte)
  }

  for {
    failure <- Seq(new IOException("full"), new IllegalStateException, new InterruptedException)
    kind = failure.getClass.getSimpleName
  } {
    test(s"G1: nothing is left of a write that fails with $kind") {
      val store = newStore()
      write(store, s"$folder/6.delta", old)
      intercept[Exception](store.write(path) { out =>
        out.write(fresh)
        throw failure
      })
      assertAbsent(store, path)
      assert(store.list(folder).toSet == Set("6.delta"))
    }

    test(s"G1: what was there stays when replacing it fails with $kind") {
      val store = newStore()
      write(store, path, old)
      intercept[Exception](store.write(path) { out =>
        out.write(fresh)
        throw failure
      })
      assert(bytesOf(store, path) == old.toSeq)
      assert(store.list(folder).toSet == Set("7.delta"))
    }
  }

  test("G1: a name can be written after a write of it failed") {
    val store = newStore()
    intercept[IOException](store.write(path)(_ => throw new IOException("full")))
    write(store, path, fresh)
    assert(bytesOf(store, path) == fresh.toSeq)
  }

  test("G2: what was written is there after the store is closed and another opened") {
    val store = newStore()
    write(store, path, fresh)
    val after = reopened(store)
    store.close()
    assert(bytesOf(after, path) == fresh.toSeq)
  }

  test("G3: another store finds a file by name as soon as write has returned") {
    val store = newStore()
    val other = reopened(store)
    assertAbsent(other, path)
    write(store, path, fresh)
    assert(other.exists(path))
    assert(bytesOf(other, path) == fresh.toSeq)
  }

  test("G3: a file that is not there is reported as such") {
    assertAbsent(newStore(), path)
  }

  test("G4: readers get the old bytes until a replacement is complete, then the new") {
    val store = newStore()
    val other = reopened(store)
    write(store, path, old)
    store.write(path) { out =>
      out.write(fresh)
      out.flush()
      assert(bytesOf(store, path) == old.toSeq)
      assert(bytesOf(other, path) == old.toSeq)
      ()
    }
    assert(bytesOf(store, path) == fresh.toSeq)
    assert(bytesOf(other, path) == fresh.toSeq)
  }

  test("G4: a file may be replaced by a shorter one") {
    val store = newStore()
    write(store, path, fresh)
    assert(write(store, path, old) == old.length)
    assert(bytesOf(store, path) == old.toSeq)
    assert(listed(store, folder) == Set("7.delta"))
  }

  test("G5: a deleted file is gone, for other stores too, and no other file is") {
    val store = newStore()
    write(store, path, fresh)
    write(store, s"$folder/8.delta", fresh)
    store.delete(path)
    assertAbsent(store, path)
    assertAbsent(reopened(store), path)
    assert(bytesOf(store, s"$folder/8.delta") == fresh.toSeq)
  }

  test("G5: deleting again is no error") {
    val store = newStore()
    write(store, path, fresh)
    store.delete(path)
    store.delete(path)
    assertAbsent(store, path)
  }

  test("G5: deleting in a folder that is not there is no error") {
    val store = newStore()
    store.delete("9/9/1.delta")
    assertAbsent(store, "9/9/1.delta")
  }

  test("G5: a name can be written again after it was deleted") {
    val store = newStore()
    write(store, path, old)
    store.delete(path)
    write(store, path, fresh)
    assert(bytesOf(store, path) == fresh.toSeq)
  }

  test("G6: a listing names the files of its folder alone, not the folders") {
    val store = newStore()
    write(store, s"$folder/1.delta", fresh)
    write(store, s"$folder/2.delta", fresh)
    write(store, s"$folder/left/3.delta", fresh)
    write(store, "0/31/4.delta", fresh)
    assert(listed(store, folder) == Set("1.delta", "2.delta"))
    assert(listed(store, s"$folder/left") == Set("3.delta"))
    assert(listed(store, "0") == Set())
  }

  test("G6: a folder that is not there lists as empty") {
    assert(newStore().list("4/4").isEmpty)
  }

  test("a reader gives any range of the file") {
    val store = newStore()
    val content = Array.tabulate[Byte](5000)(i => (i * 7).toByte)
    write(store, path, content)
    val reader = store.open(path)
    try
      forEach(Gen.zip(Gen.choose(0, 5000), Gen.choose(0, 5000))) { case (a, b) =>
        val (from, until) = (a min b, a max b)
        assert(reader.read(from, until - from).toSeq == content.slice(from, until).toSeq)
      }
    finally reader.close()
  }

  test("a reader says that the file ends before the range does") {
    val store = newStore()
    write(store, path, fresh)
    val reader = store.open(path)
    try {
      intercept[EOFException](reader.read(0, fresh.length + 1))
      intercept[EOFException](reader.read(fresh.length - 1L, 2))
      intercept[EOFException](reader.read(fresh.length + 10L, 1))
      assert(reader.read(0, fresh.length).toSeq == fresh.toSeq)
    } finally reader.close()
  }

  test("several readers of a file do not disturb each other") {
    val store = newStore()
    write(store, path, fresh)
    val one = store.open(path)
    val two = store.open(path)
    try {
      assert(one.read(0, 4).toSeq == fresh.slice(0, 4).toSeq)
      assert(two.read(4, 4).toSeq == fresh.slice(4, 8).toSeq)
      one.close()
      assert(two.read(8, 4).toSeq == fresh.slice(8, 12).toSeq)
    } finally {
      one.close()
      two.close()
    }
  }

  test("several threads may write at once, to the same folder that is not there yet") {
    val store = newStore()
    val threads = 4
    val together = new CyclicBarrier(threads)
    val pool = Executors.newFixedThreadPool(threads)
    try {
      val writes: Seq[Callable[Long]] = (1 to threads).map { i => () =>
        together.await(30, TimeUnit.SECONDS)
        write(store, s"$folder/$i.delta", Array.fill[Byte](10000)(i.toByte))
      }
      val lengths = pool.invokeAll(writes.asJava).asScala.map(_.get)
      assert(lengths == Seq.fill(threads)(10000L))
    } finally pool.shutdown()
    for (i <- 1 to threads) {
      assert(bytesOf(store, s"$folder/$i.delta") == Seq.fill(10000)(i.toByte))
    }
  }

  test("the name for people has the path in it") {
    assert(newStore().describe(path).endsWith(path))
  }
}

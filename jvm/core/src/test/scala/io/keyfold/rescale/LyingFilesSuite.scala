package io.keyfold.rescale

import java.lang.management.ManagementFactory
import java.nio.file.{Files, Path}

import scala.jdk.CollectionConverters._

import com.sun.management.ThreadMXBean
import io.keyfold.errors.StoreError
import io.keyfold.format.FileKind
import io.keyfold.testkit.{FileContents, Lies, MemoryBlobStore, SeededChecks, TakenApart}
import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite

/** Files that lie under right checksums, read as files and as parts of a store's versions: they are
  * refused by name, or read; in time and memory that the size of the files bounds.
  */
class LyingFilesSuite extends AnyFunSuite with SeededChecks {
  import LyingFilesSuite._
  import RescaledOperator._

  private val golden = {
    val folder = Path.of("integration-tests", "golden", "valid")
    val files = Files.walk(folder)
    try
      files.iterator.asScala
        .filter(it => Files.isRegularFile(it) && FileKind.parse(it.getFileName.toString).isDefined)
        .map(it => it.getFileName.toString -> Files.readAllBytes(it))
        .toIndexedSeq
        .sortBy(_._1)
    finally files.close()
  }

  private def lies(file: (String, Array[Byte])) = {
    val parts = TakenApart.of(file._2)
    Gen.zip(Gen.const(file._1), Gen.const(parts), Lies.of(parts))
  }

  test("a golden file that was taken apart is the same when put together") {
    for ((name, bytes) <- golden) {
      assert(held(name, TakenApart.of(bytes).together()) == held(name, bytes))
    }
  }

  test("a change of a golden file that changes nothing is read as before") {
    val cases = Gen.zip(Gen.oneOf(golden), Lies.harmless)
    forEach(cases, 200) { case ((name, bytes), lie) =>
      assert(held(name, lie.of(TakenApart.of(bytes))) == held(name, bytes))
    }
  }

  test("a golden file that lies is refused by name, or read") {
    forEach(Gen.oneOf(golden).flatMap(lies), 2000) { case (name, parts, lie) =>
      bounded(readOrRefuse(contents(name, lie.of(parts))))
    }
  }

  for (ids <- Seq(false, true)) {
    val format = if (ids) "v2" else "v1"

    test(s"versions are read, or refused by name, over a file that lies, format $format") {
      val operator = history(ids)
      val whole = operator.blobs.paths.map(path => path -> operator.blobs.bytes(path)).toMap
      val paths = whole.keys.filter(path => kindOf(path).nonEmpty).toIndexedSeq.sorted
      val cases = Gen.oneOf(paths).flatMap { path =>
        lies(path -> whole(path)).map { case (_, parts, lie) => (path, parts, lie) }
      }
      forEach(cases, 200) { case (path, parts, lie) =>
        operator.blobs.put(path, lie.of(parts))
        try
          bounded(for (v <- operator.versions.keys.toSeq.sorted if v > 0) readAny(operator, v))
        finally {
          operator.blobs.put(path, whole(path))
          // In an hour of runs the list of its calls would be the largest thing that is allocated.
          operator.files.plan.clear()
        }
      }
      operator.close()
    }
  }

  private def history(ids: Boolean): RescaledOperator = {
    val operator = new RescaledOperator(2, 12, ids)
    val rows = (1 to 12).map(n => Put("default", s"k$n", s"v$n"))
    operator.batch(rows ++ rows.map(_.copy(family = "x")))
    operator.batch(rows.map(r => Append("default", r.key, "more")) :+ Remove("default", "k3"))
    operator.batch(Seq(Drop("x"), Put("x", "k1", "again"), Put("y", "k9", "new")))
    operator.snapshot(3)
    operator.rescale(3)
    operator.batch(Seq(Put("default", "k2", "later"), Append("x", "k1", "and again")))
    operator.snapshot(operator.version)
    operator.batch(Seq(Put("default", "k4", "last")))
    for (v <- 1L to operator.version) operator.check(v)
    operator
  }

  /** What is read need not be what was written: a lie can be a file that is right. */
  private def readAny(operator: RescaledOperator, version: Long): Unit =
    readOrRefuse(operator.rows(version))

  private def readOrRefuse(body: => Any): Unit =
    try {
      body
      ()
    } catch { case _: StoreError => () }

  /** All that it holds but for the bytes of blocks, which depend on how well they were compressed.
    */
  private def held(name: String, bytes: Array[Byte]) = {
    val found = contents(name, bytes)
    found.copy(footer = found.footer.copy(blocks = IndexedSeq()))
  }

  private def contents(name: String, bytes: Array[Byte]): FileContents = {
    val blobs = new MemoryBlobStore
    blobs.put(name, bytes)
    FileContents.read(blobs, name)
  }

  private def kindOf(path: String) = FileKind.parse(path.drop(path.lastIndexOf('/') + 1))

  /** Fails if it takes longer, or allocates more, than small files can be worth. */
  private def bounded(body: => Unit): Unit = {
    val thread = Thread.currentThread.getId
    val (time, bytes) = (threads.getCurrentThreadCpuTime, threads.getThreadAllocatedBytes(thread))
    try body
    catch { case e: Throwable if !e.isInstanceOf[Exception] => fail(s"$e", e) }
    val ms = (threads.getCurrentThreadCpuTime - time) / 1000000
    val mib = (threads.getThreadAllocatedBytes(thread) - bytes) >> 20
    assert(ms < MostMs, s"it took $ms ms")
    assert(mib < MostMiB, s"it allocated $mib MiB")
    ()
  }
}

private object LyingFilesSuite {
  private val threads = ManagementFactory.getThreadMXBean.asInstanceOf[ThreadMXBean]
  private val MostMs = 2000L
  private val MostMiB = 64L
}

package io.keyfold.map.cold

import java.nio.file.Files

import io.keyfold.errors.LocalFileFailed
import io.keyfold.mem.Slice
import io.keyfold.mem.arena.Arena
import io.keyfold.mem.page.{PagePool, SpillFiles}
import io.keyfold.testkit.Bytes
import org.scalatest.funsuite.AnyFunSuite

class ColdRunSuite extends AnyFunSuite {
  private val spill = new SpillFiles(Files.createTempDirectory("keyfold-runs"))
  private val arena = new Arena(new PagePool(1L << 30, None))

  private def slice(text: String) = new Slice().set(text.getBytes)

  /** A run with these index hashes, each with a row of its number; every third was removed. */
  private def written(files: ColdFiles, hashes: Seq[Int]): Int = {
    val writer = new ColdRunWriter(arena, files, epoch = 1, older = 0)
    for ((hash, i) <- hashes.zipWithIndex) {
      writer.add(hash, i, slice(s"key$i"), changed = i % 2 == 0, values = if (i % 3 == 2) 0 else 1)
      if (i % 3 != 2) writer.addValue(slice("value" * (i % 100)))
    }
    writer.finish()
    writer.newest
  }

  private def added(files: ColdFiles, content: Array[Byte]): Int = {
    val run = files.begin()
    run.write(content, content.length)
    files.add(run)
  }

  test("each row of a run is found by its hash and key, and no other") {
    val files = new ColdFiles(spill)
    val random = new scala.util.Random(2)
    // Some hashes several times, in all of the range of an int.
    val hashes = Seq
      .fill(20000)(random.nextInt() & ~3)
      .sorted(Ordering.fromLessThan[Int] {
        Integer.compareUnsigned(_, _) < 0
      })
    val same = hashes.take(10000).flatMap(h => Seq(h, h, h))
    for (all <- Seq(hashes, same, Seq.fill(3000)(7), Seq(0), Seq(-1))) {
      val run = written(files, all)
      val runs = new ColdRuns(arena.addresses, files)
      val space = new ColdSpace(arena, files)
      for ((hash, i) <- all.zipWithIndex) {
        val row = runs.find(run, hash, hash = 0, slice(s"key$i"))
        if (i % 3 == 2) assert(row == null)
        else {
          val value = new Slice
          assert(row.hash == i && row.isChanged == (i % 2 == 0) && row.values == 1)
          assert(row.nextValue(value) && Bytes.of(value) == Bytes.of(slice("value" * (i % 100))))
          assert(!row.nextValue(value))
        }
        assert(space.mayHave(run, hash))
        assert(runs.find(run, hash, hash = 0, slice(s"other$i")) == null)
      }
      val others = all.map(_ + 1).diff(all)
      assert(others.count(space.mayHave(run, _)) <= others.size / 20)
      val cursor = ColdRunCursor(runs, run)
      assert(all.forall(hash => cursor.next() && cursor.hash == hash) && !cursor.next())
    }
    files.close()
  }

  test("runs that are left are found after files of those gone were emptied") {
    val files = new ColdFiles(spill)
    val random = new scala.util.Random(3)
    var live = Map.empty[Int, Array[Byte]]
    var most = 0L
    for (_ <- 1 to 2000) {
      val content = new Array[Byte](random.nextInt(1 << 20))
      random.nextBytes(content)
      live += added(files, content) -> content
      if (live.size > 100) {
        val gone = live.keys.toSeq(random.nextInt(live.size))
        files.remove(gone)
        live -= gone
      }
      most = math.max(most, files.bytes)
    }
    assert(most < 4 * (100L << 19) + (128L << 20))
    for ((run, content) <- live) {
      val found = new Array[Byte](content.length)
      files.read(run, 0, found, found.length)
      assert(found.sameElements(content))
    }
    files.close()
  }

  test("a block that has changed on disk is an error, and the files count as broken (fault 21)") {
    val files = new ColdFiles(spill)
    val run = written(files, 1 to 20)
    val number = ColdRun.file(arena.addresses.of(run))
    val block = new Array[Byte](files.lengthOf(number))
    files.read(number, 0, block, block.length)
    for (i <- Seq(0, 5, block.length - 1)) {
      val other = block.clone()
      other(i) = (other(i) ^ 1).toByte
      val damaged = new ColdFiles(spill)
      val same = added(damaged, other)
      assert(same == number)
      val runs = new ColdRuns(arena.addresses, damaged)
      val error = intercept[LocalFileFailed](runs.find(run, 1, hash = 0, slice("key0")))
      assert(error.getMessage.contains("the task's retry loads the state again"))
      assert(damaged.isBroken)
      damaged.close()
    }
    files.close()
  }

  test("a thread that is interrupted reads on (fault 21)") {
    val files = new ColdFiles(spill)
    val run = written(files, 1 to 100)
    val runs = new ColdRuns(arena.addresses, files)
    Thread.currentThread.interrupt()
    assert(runs.find(run, 1, hash = 0, slice("key0")) != null)
    assert(Thread.interrupted())
    assert(runs.find(run, 2, hash = 0, slice("key1")) != null)
    files.close()
  }
}

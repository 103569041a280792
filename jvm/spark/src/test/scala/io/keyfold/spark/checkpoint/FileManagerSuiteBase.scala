package io.keyfold.spark.checkpoint

import java.io.FileNotFoundException
import java.nio.charset.StandardCharsets.UTF_8

import org.apache.hadoop.fs.{FileAlreadyExistsException, Path}
import org.scalatest.funsuite.AnyFunSuite

/** What Spark and Keyfold rely on in a checkpoint file manager, on any file system. */
trait FileManagerSuiteBase extends AnyFunSuite {

  /** An empty folder that no other test has. */
  protected def newPlace(): ManagedFolder

  /** How many files of one name are raced for: a race takes longer on some servers. */
  protected def races: Int

  /** Cancels the test where a file system can only look for a file before it creates one. */
  protected def needsExclusiveWrites(): Unit = ()

  test("a file has the bytes that were written last, whether it was there or not") {
    val place = newPlace()
    place.write("1", "one")
    place.write("a.delta", "first", replaces = true)
    place.write("a.delta", "second", replaces = true)
    place.write("empty", "")
    assert(place.read("1") == "one" && place.read("a.delta") == "second")
    assert(place.read("empty").isEmpty)
    assert(place.names == Set("1", "a.delta", "empty"))
  }

  test("a file that exists stays as it is when another is created in its name") {
    needsExclusiveWrites()
    val place = newPlace()
    place.write("1", "one")
    val error = intercept[FileAlreadyExistsException](place.write("1", "two"))
    assert(error.getMessage.contains(place.inMessages("1")))
    assert(place.names == Set("1") && place.read("1") == "one")
  }

  for (replaces <- Seq(true, false))
    test(s"no file is visible before its end, or after it was cancelled; replaces: $replaces") {
      val place = newPlace()
      val out = place.manager.createAtomic(place.path("1"), replaces)
      out.write("one".getBytes(UTF_8))
      out.flush()
      assert(!place.names("1") && !place.manager.exists(place.path("1")))
      out.cancel()
      out.close()
      assert(place.names.isEmpty)
      val whole = place.manager.createAtomic(place.path("2"), replaces)
      whole.close()
      whole.cancel()
      assert(place.names == Set("2"))
    }

  test("of 16 that create a file at once one is told that it did, and its bytes stay") {
    needsExclusiveWrites()
    val place = newPlace()
    place.race(races)
    assert(place.names == (1 to races).map(_.toString).toSet)
  }

  test("a large file comes back as it was written") {
    val place = newPlace()
    val piece = Array.tabulate[Byte]((1 << 20) + 7)(_.toByte)
    for (replaces <- Seq(true, false)) {
      val name = s"large-$replaces"
      val out = place.manager.createAtomic(place.path(name), replaces)
      for (_ <- 1 to 20) out.write(piece)
      out.close()
      assert(place.manager.list(place.path(name)).map(_.getLen).toSeq == Seq(20L * piece.length))
      val in = place.manager.open(place.path(name))
      try {
        for (_ <- 1 to 20) assert(in.readNBytes(piece.length).sameElements(piece))
        assert(in.read() == -1)
        in.seek(piece.length.toLong)
        assert(in.readNBytes(piece.length).sameElements(piece))
      } finally in.close()
    }
  }

  test(
    "a listing has files and folders with their lengths and paths, those that the filter takes"
  ) {
    val place = newPlace()
    place.write("a b%20c", "one")
    place.manager.mkdirs(place.path("sub/folder"))
    place.manager.mkdirs(place.path("sub/folder"))
    val found = place.manager.list(place.folder).toSeq.sortBy(_.getPath.getName)
    assert(found.map(it => (it.getPath, it.isFile)) == Seq("a b%20c" -> true, "sub" -> false).map {
      case (name, isFile) => (qualified(place, place.path(name)), isFile)
    })
    assert(found.head.getLen == 3)
    val some = place.manager.list(place.folder, (path: Path) => path.getName == "sub")
    assert(some.map(_.getPath.getName).toSeq == Seq("sub"))
    assert(place.manager.exists(place.path("a b%20c")) && place.manager.exists(place.path("sub")))
  }

  test("a folder goes with all that is in it, and nothing else does") {
    val place = newPlace()
    place.manager.mkdirs(place.path("sub/folder"))
    place.write("sub/folder/1", "one")
    place.write("sub-2", "two")
    place.manager.delete(place.path("sub"))
    assert(place.names == Set("sub-2") && !place.manager.exists(place.path("sub/folder/1")))
    place.manager.delete(place.path("sub-2"))
    assert(place.names.isEmpty)
  }

  test("what is not there is told so, and deleting it again is no error") {
    val place = newPlace()
    intercept[FileNotFoundException](place.manager.open(place.path("1")))
    intercept[FileNotFoundException](place.manager.list(place.path("1")))
    assert(!place.manager.exists(place.path("1")))
    place.manager.delete(place.path("1"))
    place.manager.delete(place.path("no folder/1"))
    assert(place.names.isEmpty)
  }

  test("a checkpoint's folder is made, and named with its scheme") {
    val place = newPlace()
    assert(place.manager.createCheckpointDirectory() == qualified(place, place.folder))
    assert(place.manager.exists(place.folder))
  }

  private def qualified(place: ManagedFolder, path: Path) =
    path.getFileSystem(place.conf).makeQualified(path)
}

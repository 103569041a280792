package io.keyfold.spark.checkpoint

import java.io.FileNotFoundException
import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, Path => LocalPath}

import io.keyfold.spark.KeyfoldCheckpointFileManager
import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{FileAlreadyExistsException, FileSystem, Path}
import org.apache.spark.sql.keyfold.SparkShim
import org.scalatest.funsuite.AnyFunSuite

/** What Spark's own tests of a file manager do not ask. */
class LocalFileManagerSuite extends AnyFunSuite {

  private final class Place(local: LocalPath, forced: Boolean)
      extends ManagedFolder(new Path(local.toUri), confOf(forced)) {
    def this(forced: Boolean = true) = this(Files.createTempDirectory("keyfold"), forced)

    /** Hidden and temporary ones too. */
    override def names: Set[String] = local.toFile.list.toSet
  }

  private def confOf(forced: Boolean) = {
    val conf = new Configuration
    conf.setBoolean("spark.sql.streaming.stateStore.keyfold.files.forced", forced)
    conf
  }

  for (forced <- Seq(true, false))
    test(s"nothing but the file is left of a write, forced to disk: $forced") {
      val place = new Place(forced)
      place.write("1", "one")
      place.write("1", "two", replaces = true)
      assert(place.names == Set("1") && place.read("1") == "two")
    }

  test("a file whose link was made, and not answered, is its writer's") {
    val place = new Place
    val out = place.manager.createAtomic(place.path("0"), overwriteIfPossible = false)
    out.write("mine".getBytes(UTF_8))
    out.flush()
    val temporary = place.names.head
    val folder = LocalPath.of(place.folder.toUri)
    Files.createLink(folder.resolve("0"), folder.resolve(temporary))
    out.close()
    assert(place.read("0") == "mine" && place.names == Set("0"))
  }

  test("of 16 that create a file at once one is told that it did, and its bytes stay") {
    val place = new Place(forced = false)
    place.race(rounds = 50)
    assert(place.names == (1 to 50).map(_.toString).toSet)
  }

  test("a file that exists stays as it is when another is created in its name") {
    val place = new Place
    place.write("1", "one")
    val out = place.manager.createAtomic(place.path("1"), overwriteIfPossible = false)
    out.write(2)
    val error = intercept[FileAlreadyExistsException](out.close())
    assert(error.getMessage.contains(place.path("1").toString))
    out.cancel()
    assert(place.names == Set("1") && place.read("1") == "one")
  }

  test("nothing is left of a write that is cancelled, before or after its end") {
    val place = new Place
    val out = place.manager.createAtomic(place.path("1"), overwriteIfPossible = true)
    out.write(1)
    out.cancel()
    out.close()
    assert(place.names.isEmpty)
    val whole = place.manager.createAtomic(place.path("2"), overwriteIfPossible = true)
    whole.close()
    whole.cancel()
    assert(place.names == Set("2"))
  }

  test("Hadoop reads what took the place of a file that it wrote with checksums") {
    val place = new Place
    val hadoop = FileSystem.getLocal(place.conf)
    val out = hadoop.create(place.path("1"))
    out.write("by Hadoop".getBytes(UTF_8))
    out.close()
    assert(place.names == Set("1", ".1.crc"))
    place.write("1", "by us", replaces = true)
    assert(place.names == Set("1"))
    val in = hadoop.open(place.path("1"))
    assert(new String(in.readAllBytes, UTF_8) == "by us")
    in.close()
    hadoop.delete(place.path("1"), false)
    val again = hadoop.create(place.path("1"))
    again.close()
    place.manager.delete(place.path("1"))
    assert(place.names.isEmpty)
  }

  test("a write that is interrupted is written, and stays interrupted") {
    val place = new Place
    val out = place.manager.createAtomic(place.path("1"), overwriteIfPossible = false)
    out.write("one".getBytes(UTF_8))
    Thread.currentThread.interrupt()
    out.close()
    assert(Thread.interrupted())
    Thread.currentThread.interrupt()
    assert(place.read("1") == "one")
    assert(Thread.interrupted())
  }

  test("what is not there is told so") {
    val place = new Place
    intercept[FileNotFoundException](place.manager.open(place.path("1")))
    intercept[FileNotFoundException](place.manager.list(place.path("1")))
    intercept[FileNotFoundException](
      place.manager.createAtomic(place.path("no folder/1"), overwriteIfPossible = true)
    )
    place.manager.delete(place.path("no folder/1"))
    assert(place.names.isEmpty)
  }

  test("names are those of Hadoop: blanks, percent signs and colons too") {
    val place = new Place
    val name = "a b%20c"
    place.write(name, "one")
    assert(place.names == Set(name))
    val found = place.manager.list(place.folder).toSeq
    val hadoop = FileSystem
      .getLocal(place.conf)
      .getRawFileSystem
      .listStatus(place.folder)
    assert(found.map(_.getPath) == hadoop.map(_.getPath).toSeq)
    assert(found.map(it => (it.getLen, it.isFile)) == Seq((3L, true)))
    val root = place.folder
    val qualified = FileSystem.getLocal(place.conf).makeQualified(root)
    assert(place.manager.createCheckpointDirectory() == qualified)
  }

  test("who has a file system of their own for local files keeps it") {
    val conf = new Configuration
    conf.set("fs.file.impl", classOf[OwnLocalFileSystem].getName)
    conf.setBoolean("fs.file.impl.disable.cache", true)
    val manager = FileManagers.of(new Path(Files.createTempDirectory("keyfold").toUri), conf)
    assert(!manager.isInstanceOf[LocalFileManager])
  }

  test("whoever has named another class of managers keeps it") {
    val conf = new Configuration
    conf.set(SparkShim.FileManagerKey, classOf[OwnFileManager].getName)
    val path = new Path(Files.createTempDirectory("keyfold").toUri)
    assert(FileManagers.configured(path, conf).isInstanceOf[OwnFileManager])
    conf.unset(SparkShim.FileManagerKey)
    assert(FileManagers.configured(path, conf).isInstanceOf[LocalFileManager])
    conf.set(SparkShim.FileManagerKey, classOf[KeyfoldCheckpointFileManager].getName)
    assert(FileManagers.configured(path, conf).isInstanceOf[LocalFileManager])
  }
}

class OwnLocalFileSystem extends org.apache.hadoop.fs.LocalFileSystem

class OwnFileManager(path: Path, conf: Configuration)
    extends org.apache.spark.sql.execution.streaming.checkpointing.FileSystemBasedCheckpointFileManager(
      path,
      conf
    )

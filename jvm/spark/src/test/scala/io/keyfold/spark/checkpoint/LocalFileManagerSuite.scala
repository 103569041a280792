package io.keyfold.spark.checkpoint

import java.io.{FileNotFoundException, IOException}
import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, Paths, Path => LocalPath}

import io.keyfold.spark.KeyfoldCheckpointFileManager
import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{FileSystem, Path}
import org.apache.spark.sql.keyfold.{SparkPrivate, TestNames}

/** On a local disk. */
class LocalFileManagerSuite extends FileManagerSuiteBase {

  override protected def newPlace(): ManagedFolder = new Place(forced = true)

  override protected def races: Int = 50

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

  test("a file in a folder that is not there is refused when it is begun") {
    val place = new Place
    intercept[FileNotFoundException](
      place.manager.createAtomic(place.path("no folder/1"), overwriteIfPossible = true)
    )
    assert(place.names.isEmpty)
  }

  test("a file that cannot be opened, and is there, is not told to be missing") {
    val place = new Place
    // Root may read what nobody may; a folder cannot be opened by anyone.
    Files.createDirectory(LocalPath.of(place.folder.toUri).resolve("there"))
    val error = intercept[IOException](place.read("there"))
    assert(!error.isInstanceOf[FileNotFoundException])
  }

  test("a listing says the same as Hadoop's") {
    val place = new Place
    place.write("a b%20c", "one")
    Files.write(Paths.get(place.folder.toUri.getPath, "0:Zone.Identifier"), "two".getBytes(UTF_8))
    val found = place.manager.list(place.folder).toSeq
    val hadoop = FileSystem
      .getLocal(place.conf)
      .getRawFileSystem
      .listStatus(place.folder)
    assert(found.map(_.getPath) == hadoop.map(_.getPath).toSeq)
    assert(found.map(it => (it.getLen, it.isFile)) == Seq((3L, true), (3L, true)))
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
    conf.set(SparkPrivate.FileManagerKey, classOf[OwnFileManager].getName)
    val path = new Path(Files.createTempDirectory("keyfold").toUri)
    assert(FileManagers.configured(path, conf).isInstanceOf[OwnFileManager])
    conf.unset(SparkPrivate.FileManagerKey)
    assert(FileManagers.configured(path, conf).isInstanceOf[LocalFileManager])
    conf.set(SparkPrivate.FileManagerKey, classOf[KeyfoldCheckpointFileManager].getName)
    assert(FileManagers.configured(path, conf).isInstanceOf[LocalFileManager])
  }
}

class OwnLocalFileSystem extends org.apache.hadoop.fs.LocalFileSystem

class OwnFileManager(path: Path, conf: Configuration)
    extends TestNames.FileSystemBasedCheckpointFileManager(path, conf)

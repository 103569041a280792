package io.keyfold.spark.checkpoint

import java.nio.charset.StandardCharsets.UTF_8
import java.util.UUID

import io.keyfold.spark.{KeyfoldCheckpointFileManager, LaterFeatures}
import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{FileAlreadyExistsException, Path}
import org.apache.spark.sql.keyfold.SparkPrivate

/** On S3; besides, how many requests it takes, and answers that are lost. */
class ObjectFileManagerSuite extends FileManagerSuiteBase with OnS3 {

  override protected def newPlace(): ManagedFolder =
    new ManagedFolder(new Path(server.root, UUID.randomUUID.toString), server.conf())

  override protected def races: Int = 10

  override protected def needsExclusiveWrites(): Unit = {
    assume(LaterFeatures.conditionalWrites, "Spark 4.0's Hadoop has no conditional writes")
    ()
  }

  /** A folder that is listed, and a store that has been seen to refuse. */
  private class Place(conf: Configuration = server.conf())
      extends ManagedFolder(new Path(server.root, UUID.randomUUID.toString), conf) {
    write("0", "zero")
    manager.list(folder)
    server.requests()
  }

  test("a file is one PUT, whether it may replace another or not") {
    needsExclusiveWrites()
    val place = new Place
    place.write("1", "one")
    place.write("a.delta", "state", replaces = true)
    place.write("a.delta", "state again", replaces = true)
    assert(server.requests() == Seq.fill(3)("PutObject 200"))
    assert(place.read("1") == "one" && place.read("a.delta") == "state again")
  }

  test("whether the next entry of a log exists is answered without a request; others are asked") {
    needsExclusiveWrites()
    val place = new Place
    assert(!place.manager.exists(place.path("1")))
    assert(server.requests().isEmpty)
    place.write("1", "one")
    assert(place.manager.exists(place.path("1")))
    assert(!place.manager.exists(place.path("a")))
    assert(place.manager.exists(place.folder))
    assert(server.requests().head == "PutObject 200")
  }

  test(
    "files that were listed are read by a request each, a large one by three at most; as configured"
  ) {
    val conf = server.conf()
    conf.set(SparkPrivate.FileManagerKey, classOf[KeyfoldCheckpointFileManager].getName)
    val root = new Path(server.root, UUID.randomUUID.toString)
    val small = Array.fill[Byte](1000)(1)
    val large = Array.tabulate[Byte](5 << 20)(_.toByte)
    new HadoopBlobStore(root, conf).write("0/large")(_.write(large))
    new HadoopBlobStore(root, conf).write("0/small")(_.write(small))
    server.requests()
    val store = new HadoopBlobStore(root, conf)
    val found = store.files("0")
    assert(server.requests() == Seq("ListObjectsV2 200"))
    val one = store.open("0/small", found("small"))
    assert(one.read(0, 1000).sameElements(small))
    one.close()
    assert(server.requests() == Seq("GetObject 200"))
    val many = store.open("0/large", found("large"))
    val end = large.length - 1000
    assert(many.read(end.toLong, 1000).sameElements(large.drop(end)))
    assert(many.read(0, 16).sameElements(large.take(16)))
    val pieces = (16 until end by 100000).map(at => at -> (end - at).min(100000))
    for ((at, count) <- pieces) {
      assert(many.read(at.toLong, count).sameElements(large.slice(at, at + count)))
    }
    many.close()
    val asked = server.requests()
    assert(asked.forall(_.startsWith("GetObject")) && asked.size <= 3)
    assert(store.exists("0/small") && !store.exists("0/none"))
    assert(server.requests() == Seq("HeadObject 200", "HeadObject 404"))
    store.delete("0/small")
    assert(server.requests().map(_.takeWhile(_ != ' ')) == Seq("DeleteObject"))
  }

  test("an entry is deleted by one request, a folder with all that is in it") {
    needsExclusiveWrites()
    val place = new Place
    place.write("1", "one")
    server.requests()
    place.manager.delete(place.path("0"))
    assert(server.requests().map(_.takeWhile(_ != ' ')) == Seq("DeleteObject"))
    assert(place.names == Set("1"))
    place.write("sub/2", "two")
    place.manager.delete(place.folder)
    assert(!place.manager.exists(place.path("sub/2")) && !place.manager.exists(place.folder))
  }

  test("who only reads a log sees what another writes to it") {
    val place = new Place
    val reader = new KeyfoldCheckpointFileManager(place.folder, server.conf())
    assert(reader.list(place.folder).length == 1)
    place.write("1", "one")
    assert(reader.exists(place.path("1")))
  }

  test("a large file that must not replace another is one object, refused if it is there") {
    needsExclusiveWrites()
    // The server closes the connection when it refuses, and the client tries for minutes.
    val conf = server.conf()
    conf.setInt("fs.s3a.retry.limit", 1)
    conf.setInt("fs.s3a.attempts.maximum", 1)
    val place = new Place(conf)
    val piece = Array.tabulate[Byte](1 << 20)(_.toByte)
    def write() = {
      val out = place.manager.createAtomic(place.path("large"), overwriteIfPossible = false)
      for (_ <- 1 to 20) out.write(piece)
      out.close()
    }
    write()
    assert(server.requests() == Seq("PutObject 200"))
    intercept[FileAlreadyExistsException](write())
    assert(place.manager.list(place.folder).exists(_.getLen == (20L << 20)))
    val out = place.manager.createAtomic(place.path("not"), overwriteIfPossible = false)
    for (_ <- 1 to 20) out.write(piece)
    out.cancel()
    assert(place.names == Set("0", "large"))
  }

  test("another driver's entry is refused by name, though this one believes that it is the next") {
    needsExclusiveWrites()
    val mine = new Place
    val theirs = new KeyfoldCheckpointFileManager(mine.folder, server.conf())
    val out = theirs.createAtomic(mine.path("1"), overwriteIfPossible = false)
    out.write("theirs".getBytes(UTF_8))
    out.close()
    assert(!mine.manager.exists(mine.path("1")))
    val error = intercept[FileAlreadyExistsException](mine.write("1", "mine"))
    assert(error.getMessage.contains(mine.path("1").toString))
    assert(mine.read("1") == "theirs")
  }

  private def overWire[T](body: (FaultyWire, Place) => T): T = {
    val wire = new FaultyWire(server.port)
    try body(wire, new Place(server.conf(wire.listens)))
    finally wire.close()
  }

  for (replaces <- Seq(true, false))
    test(s"a PUT whose answer is lost has written the file; replaces: $replaces") {
      overWire { (wire, place) =>
        wire.next.set(FaultyWire.LoseAnswer)
        place.write("1", "one", replaces)
        assert(wire.next.get == FaultyWire.Pass, "no answer was lost")
        assert(server.requests().count(_.startsWith("PutObject")) == 2)
        assert(place.read("1") == "one")
      }
    }

  test("requests that S3A has sent again are told, once") {
    overWire { (wire, place) =>
      val stores = Seq.fill(2)(new HadoopBlobStore(place.folder, place.conf))
      val own = stores.map { store =>
        store.write("state/1")(_.write(1))
        store.clientRetries()
      }
      assert(own == Seq(0, 0))
      wire.next.set(FaultyWire.LoseAnswer)
      stores.head.write("state/2")(_.write(2))
      assert(wire.next.get == FaultyWire.Pass, "no answer was lost")
      assert(stores.map(_.clientRetries()) == Seq(1, 0))
      assert(stores.map(_.clientRetries()) == Seq(0, 0))
    }
  }

  test("a PUT whose answer is lost does not take another's object for its own") {
    overWire { (wire, place) =>
      val theirs = new KeyfoldCheckpointFileManager(place.folder, server.conf())
      val out = theirs.createAtomic(place.path("1"), overwriteIfPossible = false)
      out.write("one".getBytes(UTF_8))
      out.close()
      wire.next.set(FaultyWire.LoseAnswer)
      intercept[FileAlreadyExistsException](place.write("1", "one"))
    }
  }

  test("a PUT that another request for the object delays is sent again") {
    needsExclusiveWrites()
    overWire { (wire, place) =>
      wire.next.set(FaultyWire.Conflict)
      place.write("1", "one")
      assert(wire.next.get == FaultyWire.Pass, "no conflict was answered")
      assert(place.read("1") == "one")
    }
  }
}

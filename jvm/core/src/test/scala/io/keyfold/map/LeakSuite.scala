package io.keyfold.map

import java.nio.file.{Files, Path}

import scala.sys.process._

import org.scalatest.funsuite.AnyFunSuite

/** What a million cycles of put and remove leave behind, half of them in each kind of index, seen
  * from outside; see [[LeakMain]].
  */
class LeakSuite extends AnyFunSuite {
  test("a million puts and removes leave no object, and resident memory as it was") {
    assume(Files.exists(Path.of("/proc/self/status")), "resident memory is read as Linux shows it")
    val lines = command.!!.linesIterator.map(_.split(" ").map(_.toLong)).toSeq
    assert(lines.size == 22)
    val (objects, bytes) = (lines.map(_(0)), lines.map(_(1)))
    info(s"resident KiB: ${bytes.take(20).map(_ >> 10).mkString(" ")}")
    info(s"objects: ${objects.mkString(" ")}")
    assert(objects.take(19).max < 2 * objects.take(19).min, "more objects, version by version")
    assert(objects(20) <= 4, "objects live in a version without rows")
    assert(objects(21) == 0 && bytes(21) == 0, "something is left without any version")
    val (first, last) = (bytes.take(2).max, bytes.slice(18, 20).max)
    assert(last - first < LeakSuite.GrowthBytes, s"resident memory grew from $first to $last bytes")
  }

  /** The heap is taken from the start, so that what grows is not that. */
  private def command = Seq(
    Path.of(System.getProperty("java.home"), "bin", "java").toString,
    "-cp",
    System.getProperty("java.class.path"),
    "-Xms64m",
    "-Xmx64m",
    "-XX:+AlwaysPreTouch",
    "-XX:+UseSerialGC",
    "-XX:TieredStopAtLevel=1",
    "io.keyfold.map.LeakMain",
    "500000"
  )
}

private object LeakSuite {

  /** More than compiled code and the collector's own come to; a leak of 8 bytes a cycle is more. */
  val GrowthBytes: Long = 6L << 20
}

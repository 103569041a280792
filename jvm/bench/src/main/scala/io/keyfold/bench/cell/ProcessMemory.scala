package io.keyfold.bench.cell

import java.lang.management.ManagementFactory
import java.nio.file.{Files, Path}

import scala.jdk.CollectionConverters._
import scala.util.Using

/** What this process takes, as seen from outside a store; bytes.
  *
  * @param heap
  *   used after full collections
  * @param resident
  *   of all the process, as the kernel counts it
  * @param anonymous
  *   of that, what no file is behind
  * @param mapped
  *   of that, what maps files
  * @param files
  *   below a folder
  * @param localFiles
  *   elsewhere in the temporary folder
  */
final case class ProcessMemory(
    heap: Long,
    resident: Long,
    anonymous: Long,
    mapped: Long,
    files: Long,
    localFiles: Long
)

object ProcessMemory {
  def now(folder: Path): ProcessMemory = {
    // What finalizers and cleaners let go of is free only at the collection after them.
    (0 until 3).foreach { _ =>
      System.gc()
      Thread.sleep(200)
    }
    val heap = ManagementFactory.getMemoryMXBean.getHeapMemoryUsage.getUsed
    val all = bytesBelow(Path.of(System.getProperty("java.io.tmpdir")))
    val files = bytesBelow(folder)
    ProcessMemory(heap, of("VmRSS"), of("RssAnon"), of("RssFile"), files, all - files)
  }

  private def of(field: String): Long = {
    val line = Files
      .readAllLines(Path.of("/proc/self/status"))
      .asScala
      .find(_.startsWith(s"$field:"))
      .getOrElse(sys.error(s"Cannot read $field from /proc/self/status"))
    line.split("\\s+")(1).toLong * 1024
  }

  private def bytesBelow(folder: Path): Long =
    Using.resource(Files.walk(folder)) { paths =>
      paths.iterator.asScala.filter(Files.isRegularFile(_)).map(Files.size).sum
    }
}

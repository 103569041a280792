package io.keyfold.testkit

import java.lang.management.ManagementFactory
import java.nio.file.{Files, Path}

import scala.jdk.CollectionConverters._
import scala.util.Using

/** What this process takes from the system, as Linux shows it. */
object ProcessUse {
  private val process = Path.of("/proc/self")

  /** Bytes in main memory. */
  def resident(): Long = Files
    .readAllLines(process.resolve("status"))
    .asScala
    .collectFirst { case line if line.startsWith("VmRSS:") => line.split("\\s+")(1).toLong * 1024 }
    .get

  /** Bytes of the Java heap that are reachable. */
  def heap(): Long = {
    System.gc()
    ManagementFactory.getMemoryMXBean.getHeapMemoryUsage.getUsed
  }

  def handles(): Long = Using.resource(Files.list(process.resolve("fd")))(_.count())

  def mappings(): Long = Using.resource(Files.lines(process.resolve("maps")))(_.count())

  def threads(): Int = ManagementFactory.getThreadMXBean.getThreadCount

  /** Files below a folder, and their bytes. */
  def files(folder: Path): (Long, Long) = Using.resource(Files.walk(folder)) { paths =>
    val lengths = paths.iterator.asScala.filter(Files.isRegularFile(_)).map(Files.size).toSeq
    (lengths.size.toLong, lengths.sum)
  }
}

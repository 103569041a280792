package io.keyfold.spark.setup

import java.io.IOException
import java.lang.management.{BufferPoolMXBean, ManagementFactory}
import java.nio.file.{Files, Path}

import scala.jdk.CollectionConverters._
import scala.util.Try

import io.keyfold.errors.Invalid
import io.keyfold.spark.KeyfoldExtensions
import io.keyfold.spark.conf.KeyfoldConf
import io.keyfold.spark.state.StateMemory
import org.apache.spark.TaskContext
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.keyfold.SparkPrivate
import org.json4s.JsonDSL._
import org.json4s._
import org.json4s.jackson.JsonMethods.{compact, render}

/** What Python's check of a set-up asks, as JSON. It calls these methods by Spark SQL's `reflect`,
  * so that it reaches the driver and executors also through Spark Connect.
  */
object SetupFacts {

  /** To be called on the driver, by a query of the session. */
  def ofDriver(): String = compact(
    render(
      ("extension" -> KeyfoldExtensions.isApplied) ~
        ("settings" -> invalidSetting(SparkSession.active.conf.getAll)) ~
        ("executors" -> SparkPrivate.executors)
    )
  )

  /** To be called by a task. Sizes are in bytes, with the names of Python's dataclasses. */
  def ofExecutor(): String = {
    val set = settingOfTask
    val memory = ("budget" -> StateMemory.budget(set)) ~
      ("budget_set" -> set) ~
      ("heap" -> Runtime.getRuntime.maxMemory) ~
      ("beside_heap" -> besideHeap) ~
      ("off_heap" -> SparkPrivate.conf.flatMap(SparkPrivate.offHeapMemory)) ~
      ("overhead" -> SparkPrivate.conf.flatMap(SparkPrivate.memoryOverhead)) ~
      ("machine" -> StateMemory.machineBytes)
    compact(
      render(
        ("id" -> SparkPrivate.executorId) ~
          ("host" -> SparkPrivate.executorHost) ~
          ("memory" -> memory) ~
          ("folders" -> SparkPrivate.localFolders.map(folder))
      )
    )
  }

  private def invalidSetting(settings: Map[String, String]): Option[String] =
    try {
      new KeyfoldConf(settings).check()
      None
    } catch { case e: Invalid => Some(e.getMessage) }

  /** The budget that the session sets, which the task has got; None if it is invalid, too. */
  private def settingOfTask =
    Option(TaskContext.get())
      .flatMap(task => Option(task.getLocalProperty(KeyfoldConf.MEMORY_MAX_BYTES.key)))
      .flatMap(KeyfoldConf.MEMORY_MAX_BYTES.parse(_).toOption)

  /** What the JVM itself has taken beside its heap by now: classes, code, buffers. */
  private def besideHeap =
    ManagementFactory.getMemoryMXBean.getNonHeapMemoryUsage.getCommitted +
      ManagementFactory
        .getPlatformMXBeans(classOf[BufferPoolMXBean])
        .asScala
        .filter(_.getName == "direct")
        .map(_.getMemoryUsed)
        .sum

  /** A folder for spill files, and why none can be written there, if so. */
  private def folder(path: Path): JObject =
    try {
      Files.delete(Files.createTempFile(path, "keyfold-", ".check"))
      // Some containers do not show what a folder is mounted from.
      val store = Try(Files.getFileStore(path)).toOption
      ("path" -> path.toString) ~ ("free" -> store.map(_.getUsableSpace)) ~
        ("kind" -> store.map(_.`type`))
    } catch {
      case e: IOException => ("path" -> path.toString) ~ ("problem" -> e.toString)
    }
}

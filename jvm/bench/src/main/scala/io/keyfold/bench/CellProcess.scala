package io.keyfold.bench

import java.io.File
import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, Path}
import java.util.concurrent.CountDownLatch
import java.util.concurrent.TimeUnit.MINUTES

import scala.jdk.CollectionConverters._
import scala.util.Using

/** Runs one cell in a JVM of its own, whose temporary folder is made for it and deleted after it.
  * That JVM ends with this one, which holds the pipe to its standard input.
  *
  * @param javaArguments
  *   the argument file with class path and module options that this JVM was started with
  * @param output
  *   where logs and profiles go
  */
final class CellProcess(javaArguments: String, output: Path, options: Options) {
  import CellProcess._

  @volatile private var running: Option[(Process, Path)] = None
  @volatile private var stopping = false

  // When the run is stopped, a state of 5 million rows is not to be left behind.
  Runtime.getRuntime.addShutdownHook(new Thread(() => {
    stopping = true
    running.foreach { case (process, folder) =>
      process.destroyForcibly().waitFor()
      delete(folder)
    }
  }))

  def run(cell: Cell): Outcome = {
    val folder = Files.createTempDirectory("keyfold-bench")
    try outcome(cell, folder)
    finally {
      running = None
      delete(folder)
    }
  }

  def profileOf(cell: Cell): Path = output.resolve(fileName(cell) + ".jfr")

  private def logOf(cell: Cell): Path = output.resolve("logs").resolve(fileName(cell) + ".log")

  private def outcome(cell: Cell, folder: Path): Outcome = {
    val log = logOf(cell)
    Files.createDirectories(log.getParent)
    val file = folder.resolve("outcome.json")
    val process = new ProcessBuilder(command(cell, folder, file).asJava)
      .redirectErrorStream(true)
      .redirectOutput(log.toFile)
      .start()
    running = Some((process, folder))
    val ended = process.waitFor(MostMinutes, MINUTES)
    if (!ended) process.destroyForcibly().waitFor()
    // That a cell was stopped with the run is no outcome.
    if (stopping) new CountDownLatch(1).await()
    if (Files.exists(file)) Outcome.ofJson(ujson.read(Files.readString(file, UTF_8)))
    else if (!ended) Outcome.Failed(s"no end after $MostMinutes minutes")
    else Outcome.Failed(s"JVM ended with exit code ${process.exitValue}, see $log")
  }

  private def command(cell: Cell, folder: Path, outcome: Path) =
    Seq(Seq(System.getProperty("java.home"), "bin", "java").mkString(File.separator)) ++
      Seq(s"@$javaArguments") ++ JvmOptions ++ memoryOptions(cell) ++
      Seq(s"-Djava.io.tmpdir=$folder") ++
      (if (options.profile) Seq(s"-Dkeyfold.bench.profile=${profileOf(cell)}") else Nil) ++
      Seq(
        "io.keyfold.bench.cell.CellMain",
        cell.operation,
        math.max((cell.rows * options.scale.getOrElse(1.0)).toInt, 1).toString,
        cell.shape,
        cell.provider.name,
        options.effort.name,
        outcome.toString
      )
}

object CellProcess {

  /** Of each cell's JVM: what Spark starts with, but for the size of the heap. */
  val JvmOptions: Seq[String] = Seq(
    "-Xmx8g",
    "-XX:+UseG1GC",
    "-Dspark.ui.enabled=false",
    "--add-opens=java.management/sun.management=ALL-UNNAMED" // to count pauses
  )

  private val MostMinutes = 15L

  /** Resident memory says nothing while the heap keeps what is free in it. */
  private def memoryOptions(cell: Cell) =
    if (Set("memory", "spill")(cell.operation))
      Seq("-XX:MinHeapFreeRatio=1", "-XX:MaxHeapFreeRatio=2")
    else Nil

  private def fileName(cell: Cell) = cell.name.replace('/', '-')

  private def delete(folder: Path): Unit =
    if (Files.exists(folder)) {
      val paths = Using.resource(Files.walk(folder))(_.iterator.asScala.toSeq)
      paths.sortBy(-_.getNameCount).foreach(Files.deleteIfExists)
    }
}

package io.keyfold.conformance

import java.io.File
import java.nio.file.{Files, Path}
import java.util.concurrent.TimeUnit.MINUTES

import scala.io.Source
import scala.jdk.CollectionConverters._
import scala.util.Using

import io.keyfold.testkit.ShelllessLocalFs

/** Runs one suite in a JVM of its own, in an empty working folder. That JVM ends with this one,
  * which holds the pipe to its standard input.
  *
  * @param javaArguments
  *   the argument file with class path and module options that this JVM was started with
  * @param folder
  *   where log, result and working folder of the suite go
  * @param echo
  *   print a line here for each test that starts or ends
  */
final class SuiteProcess(
    javaArguments: String,
    provider: Provider,
    folder: Path,
    timeoutMinutes: Long,
    echo: Boolean
) {
  import SuiteProcess._

  private val pointedClasses = folder.resolve("pointed-classes")
  deleteFolder(pointedClasses)
  PointedClasses.write(pointedClasses, provider)

  /** Returns how the suite ended if it did not end by itself. */
  def run(suite: String, resultFile: Path, skips: Seq[String]): Option[String] = {
    val workFolder = folder.resolve(s"$suite.work")
    deleteFolder(workFolder)
    Files.createDirectories(workFolder.resolve("tmp"))
    val builder = new ProcessBuilder(command(suite, resultFile, workFolder, skips).asJava)
      .directory(workFolder.toFile)
      .redirectErrorStream(true)
    builder.environment.putAll(Environment.asJava)
    val process = builder.start()
    val logger = new Thread(() => copyLog(process, folder.resolve(s"$suite.log")))
    logger.start()
    val ended = process.waitFor(timeoutMinutes, MINUTES)
    if (!ended) {
      printThreads(process.pid, folder.resolve(s"$suite.threads"))
      kill(process)
    }
    logger.join()
    val failure =
      if (!ended) Some(s"no end after $timeoutMinutes minutes, see $suite.threads")
      else if (process.exitValue != 0) Some(s"JVM ended with exit code ${process.exitValue}")
      else None
    if (failure.isEmpty) deleteFolder(workFolder)
    failure
  }

  private def command(suite: String, resultFile: Path, workFolder: Path, skips: Seq[String]) =
    Seq(
      javaBinary("java"),
      s"@$javaArguments",
      "-cp",
      s"$pointedClasses${File.pathSeparator}$ClassPath"
    ) ++
      JvmOptions ++
      extension ++
      Seq(
        s"-Dspark.sql.streaming.stateStore.providerClass=${provider.className}",
        s"-Djava.io.tmpdir=${workFolder.resolve("tmp")}",
        s"-Dspark.test.home=$workFolder",
        SuiteMain.getClass.getName.stripSuffix("$"),
        suite,
        resultFile.toString
      ) ++ skips

  /** Spark's own providers are run without anything of Keyfold. */
  private def extension =
    if (provider == Provider.RocksDb || provider == Provider.HdfsBacked) Nil
    else Seq("-Dspark.sql.extensions=io.keyfold.spark.KeyfoldExtensions")

  private def copyLog(process: Process, log: Path): Unit =
    Using.resources(Source.fromInputStream(process.getInputStream), Files.newBufferedWriter(log)) {
      (source, writer) =>
        source.getLines().foreach { line =>
          writer.write(line + "\n")
          writer.flush()
          if (echo && SuiteMain.isProgress(line)) println(line)
        }
    }

  private def printThreads(pid: Long, file: Path): Unit = {
    new ProcessBuilder(javaBinary("jstack"), pid.toString)
      .redirectErrorStream(true)
      .redirectOutput(file.toFile)
      .start()
      .waitFor()
    ()
  }
}

object SuiteProcess {

  /** Options of each suite's JVM, mostly those of Spark's own build. */
  val JvmOptions: Seq[String] = Seq(
    "-ea", // some tests expect that an assertion of Spark fails
    "-Xmx2g",
    "-Xss4m",
    "-XX:+UseSerialGC",
    "-XX:TieredStopAtLevel=1", // a suite is over before the optimising compiler pays off
    "-Dspark.testing=1",
    "-Dspark.ui.enabled=false",
    "-Dspark.ui.showConsoleProgress=false",
    "-Dspark.port.maxRetries=100",
    "-Dspark.memory.debugFill=true",
    "-Dderby.system.durability=test",
    "-Dio.netty.tryReflectionSetAccessible=true",
    // StateStore.stop() holds the lock that a maintenance thread may need to end: they wait for
    // each other until these seconds are over, 300 and 60 unless said.
    "-Dspark.sql.streaming.stateStore.maintenanceShutdownTimeout=3",
    "-Dspark.sql.streaming.stateStore.maintenanceForceShutdownTimeout=5",
    s"-Dspark.hadoop.fs.AbstractFileSystem.file.impl=${classOf[ShelllessLocalFs].getName}"
  )

  private def ClassPath = System.getProperty("java.class.path")

  private val Environment = Map(
    // A host name that does not resolve must not decide whether Spark starts.
    "SPARK_LOCAL_IP" -> "127.0.0.1",
    // Executors of a local cluster are started as from a Spark build, which is not there.
    "SPARK_TESTING" -> "1",
    "SPARK_SCALA_VERSION" -> "2.13",
    "SPARK_DIST_CLASSPATH" -> ClassPath
  )

  private def javaBinary(name: String): String =
    Seq(System.getProperty("java.home"), "bin", name).mkString(File.separator)

  /** With the processes it started: they would keep its output open, and the folder. */
  private def kill(process: Process): Unit = {
    process.descendants.forEach { descendant => descendant.destroyForcibly(); () }
    process.destroyForcibly().waitFor()
    ()
  }

  private def deleteFolder(folder: Path): Unit =
    if (Files.exists(folder)) {
      val paths = Using.resource(Files.walk(folder))(_.iterator.asScala.toSeq)
      paths.sortBy(-_.getNameCount).foreach(Files.delete)
    }
}

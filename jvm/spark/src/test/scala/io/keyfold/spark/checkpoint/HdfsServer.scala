package io.keyfold.spark.checkpoint

import java.io.{BufferedReader, InputStreamReader}
import java.lang.ProcessBuilder.Redirect
import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, Path => LocalPath, Paths}
import java.util.concurrent.TimeUnit

import org.apache.hadoop.fs.Path

/** An HDFS of three data nodes on loopback, in a process of its own. */
final class HdfsServer extends AutoCloseable {
  private val folder = Files.createTempDirectory("keyfold-hdfs")
  private val log = folder.resolve("log")
  private val process = new ProcessBuilder(
    "java",
    "-Xmx512m",
    s"@${HdfsServer.Arguments}",
    "io.keyfold.servers.HdfsMain",
    folder.resolve("data").toString
  ).redirectError(Redirect.to(log.toFile)).start()

  val root: Path = {
    val said = new BufferedReader(new InputStreamReader(process.getInputStream, UTF_8)).readLine()
    assert(said != null && said.startsWith("ok "), s"$said\n${Files.readString(log)}")
    new Path(s"${said.stripPrefix("ok ")}/")
  }

  override def close(): Unit = {
    process.destroyForcibly().waitFor(30, TimeUnit.SECONDS)
    ()
  }
}

object HdfsServer {
  private val Arguments: LocalPath = Paths.get("jvm", "servers", "target", "java.args")

  /** Skips the test where the server is not built, unless it has to be. */
  def needed(): HdfsServer = {
    OnServer.need(Arguments, "Without HDFS this is not tested: run `make servers`")
    new HdfsServer
  }
}

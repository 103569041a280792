package io.keyfold.spark.checkpoint

import java.lang.ProcessBuilder.Redirect
import java.net.{HttpURLConnection, InetAddress, ServerSocket, URI}
import java.nio.file.{Files, Path => LocalPath, Paths}
import java.util.concurrent.TimeUnit

import scala.jdk.CollectionConverters._
import scala.util.Try

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path

/** A real S3 server on loopback, with one bucket; it counts the requests that it gets. */
final class S3Server extends AutoCloseable {
  private val folder = Files.createTempDirectory("keyfold-s3")
  private val log = folder.resolve("requests")
  private val objects = Files.createDirectories(folder.resolve(s"objects/${S3Server.Bucket}"))
  val port: Int = {
    val socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress)
    try socket.getLocalPort
    finally socket.close()
  }
  private val process = start()

  private def start(): Process = {
    Files.createDirectories(folder.resolve("headers"))
    val command = Seq(
      S3Server.Program.toString,
      "--port",
      s"127.0.0.1:$port",
      "--quiet",
      "--health",
      "/health",
      "--access-log",
      log.toString,
      "posix",
      "--sidecar",
      folder.resolve("headers").toString,
      objects.getParent.toString
    )
    val builder = new ProcessBuilder(command.asJava)
      .redirectErrorStream(true)
      .redirectOutput(Redirect.to(folder.resolve("said").toFile))
    builder.environment.put("ROOT_ACCESS_KEY", "keyfold")
    builder.environment.put("ROOT_SECRET_KEY", "keyfold-secret")
    val started = builder.start()
    val answers = Iterator.continually(Try(status("health"))).take(600).exists { it =>
      if (!it.toOption.contains(200)) Thread.sleep(50)
      it.toOption.contains(200)
    }
    assert(answers, Files.readString(folder.resolve("said")))
    started
  }

  private def status(path: String) = {
    val connection =
      URI
        .create(s"http://127.0.0.1:$port/$path")
        .toURL
        .openConnection
        .asInstanceOf[HttpURLConnection]
    try connection.getResponseCode
    finally connection.disconnect()
  }

  def root: Path = new Path(s"s3a://${S3Server.Bucket}/")

  /** A client's settings.
    *
    * @param through
    *   port of a proxy to go through
    */
  def conf(through: Int = port): Configuration = {
    val conf = new Configuration
    Map(
      "endpoint" -> s"http://127.0.0.1:$through",
      "endpoint.region" -> "us-east-1",
      "path.style.access" -> "true",
      "access.key" -> "keyfold",
      "secret.key" -> "keyfold-secret",
      // Another server is another file system, though it has the same URI.
      "impl.disable.cache" -> "true"
    ).foreach { case (key, value) => conf.set(s"fs.s3a.$key", value) }
    conf
  }

  /** Requests since the last call: operations and their statuses, in order. */
  def requests(): Seq[String] = {
    val all = Files.readAllLines(log).asScala.toSeq
    val found = all.drop(seen).collect { case S3Server.Request(name, status) => s"$name $status" }
    seen = all.size
    found
  }

  private var seen = 0

  override def close(): Unit = {
    process.destroyForcibly().waitFor(30, TimeUnit.SECONDS)
    ()
  }
}

object S3Server {
  val Bucket = "checkpoints"
  private val Program: LocalPath = Paths.get(".cache", "versitygw", "versitygw")
  private val Request = """.* s3_(\w+) \S+ \S+ (\d{3}) .*""".r

  /** Skips the test where the server is not installed, unless it has to be. */
  def needed(): S3Server = {
    val advice = "Without the S3 server this is not tested: install Go, then run `make servers`"
    OnServer.need(Program, advice)
    new S3Server
  }
}

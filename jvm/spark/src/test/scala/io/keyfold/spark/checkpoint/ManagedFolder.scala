package io.keyfold.spark.checkpoint

import java.nio.charset.StandardCharsets.UTF_8
import java.util.concurrent.{Callable, CyclicBarrier, Executors}

import scala.jdk.CollectionConverters._
import scala.util.{Failure, Success, Try}

import io.keyfold.spark.KeyfoldCheckpointFileManager
import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{FileAlreadyExistsException, Path}
import org.scalatest.Assertions

/** A folder as Keyfold's checkpoint file manager has it, and what its tests do on any file system.
  */
class ManagedFolder(val folder: Path, val conf: Configuration) extends Assertions {
  val manager = new KeyfoldCheckpointFileManager(folder, conf)
  manager.mkdirs(folder)

  def path(name: String): Path = new Path(folder, name)

  /** How errors name a file. */
  def inMessages(name: String): String = path(name).toString

  def write(name: String, text: String, replaces: Boolean = false): Unit = {
    val out = manager.createAtomic(path(name), replaces)
    try {
      out.write(text.getBytes(UTF_8))
      out.close()
    } catch {
      case e: Throwable =>
        out.cancel()
        throw e
    }
  }

  def read(name: String): String = {
    val in = manager.open(path(name))
    try new String(in.readAllBytes, UTF_8)
    finally in.close()
  }

  def names: Set[String] = manager.list(folder).map(_.getPath.getName).toSet

  /** Of 16 threads that create a file at once, one is told that it did, and its bytes stay.
    *
    * @param rounds
    *   the files are named 1 to this
    */
  def race(rounds: Int): Unit = {
    val pool = Executors.newFixedThreadPool(16)
    for (round <- 1 to rounds) {
      val start = new CyclicBarrier(16)
      val tasks = (1 to 16).map { i => () =>
        start.await()
        Try(write(s"$round", s"$i"))
      }: Seq[Callable[Try[Unit]]]
      val ends = pool.invokeAll(tasks.asJava).asScala.map(_.get).toSeq
      val created = ends.zipWithIndex.collect { case (Success(_), i) => s"${i + 1}" }
      assert(created == Seq(read(s"$round")))
      ends.collect { case Failure(e) => assert(e.isInstanceOf[FileAlreadyExistsException], e) }
    }
    pool.shutdown()
  }
}

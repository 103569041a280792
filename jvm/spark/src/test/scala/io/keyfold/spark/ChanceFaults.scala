package io.keyfold.spark

import java.io.{IOException, InterruptedIOException}
import java.util.concurrent.atomic.AtomicInteger
import java.util.{Map => JavaMap}

import scala.jdk.CollectionConverters._
import scala.util.Random

import io.keyfold.testkit.{Failure, FileCall}

/** Faults of a checkpoint's files by chance, for the crash harness, which is in Python.
  *
  * Only calls about files of state are hit: those of Spark's own logs are Spark's to bear. A call
  * that asks what is there may not see it, since nothing but Spark's logs is to rely on that.
  *
  * @param root
  *   the checkpoint
  * @param oneIn
  *   of so many calls one fails, and another one is slow
  */
final class ChanceFaults(root: String, seed: Long, oneIn: Int) {
  import Failure._

  private val random = new Random(seed)
  private val faults = new FileFaults(root)
  private val slow, passing, failed = new AtomicInteger

  faults.plan.decide(decided)

  /** Makes Spark use them: of a session. */
  def settings: JavaMap[String, String] = faults.settings.asJava

  /** Ends them; who closes late does so now.
    *
    * @return
    *   how many there were, by kind
    */
  def end(): JavaMap[String, Int] = {
    faults.plan.clear()
    Map(
      "slow file" -> slow.get,
      "file fault that passes" -> passing.get,
      "file fault" -> failed.get,
      "late close" -> faults.closeLate()
    ).asJava
  }

  private def decided(call: FileCall): Option[Failure] = {
    val (fails, isSlow, how) = synchronized {
      (random.nextInt(oneIn) == 0, random.nextInt(oneIn) == 0, random.nextInt(100))
    }
    if (!call.path.startsWith("state/") || call.path.contains("/_")) None
    else {
      if (isSlow) pause(how * 5L)
      if (fails) failing(call, how) else None
    }
  }

  private def pause(millis: Long): Unit = {
    slow.incrementAndGet()
    try Thread.sleep(millis)
    catch {
      case _: InterruptedException =>
        Thread.currentThread.interrupt()
        throw new InterruptedIOException("interrupted in a slow call")
    }
  }

  private def failing(call: FileCall, how: Int): Option[Failure] =
    if (how < 40) {
      passing.incrementAndGet()
      throw new IOException(s"injected, and it passes: $call")
    } else {
      failed.incrementAndGet()
      Some(call.what match {
        case "list" | "exists" if how < 70 => Unseen
        case "write"                       => Within(how)
        case "close" if how < 60           => Late
        case _                             => if (how < 80) After else Before
      })
    }
}

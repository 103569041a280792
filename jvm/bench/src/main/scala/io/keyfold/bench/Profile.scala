package io.keyfold.bench

import java.nio.file.Path

import scala.jdk.CollectionConverters._

import jdk.jfr.consumer.{RecordedFrame, RecordedStackTrace, RecordingFile}

/** What a JFR recording says about where time went: samples by the method that was running. */
object Profile {
  private val Sampled = Set("jdk.ExecutionSample", "jdk.NativeMethodSample")
  private val Shown = 20

  def hottest(recording: Path): Seq[String] = {
    val methods = for {
      event <- RecordingFile.readAllEvents(recording).asScala.toSeq
      if Sampled(event.getEventType.getName)
      // Threads that wait are sampled too, in native code.
      if Option(event.getThread("sampledThread")).exists(_.getJavaName == "main")
      stack <- Option(event.getStackTrace)
      frame <- topOf(stack)
    } yield s"${frame.getMethod.getType.getName}.${frame.getMethod.getName}"
    val counts = methods.groupMapReduce(identity)(_ => 1)(_ + _).toSeq.sortBy(-_._2)
    counts.take(Shown).map { case (method, count) =>
      f"${100.0 * count / methods.size}%5.1f %% $method"
    }
  }

  private def topOf(stack: RecordedStackTrace): Option[RecordedFrame] =
    stack.getFrames.asScala.headOption
}

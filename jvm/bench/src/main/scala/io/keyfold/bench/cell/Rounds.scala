package io.keyfold.bench.cell

import java.lang.management.ManagementFactory
import java.nio.file.Path

import scala.jdk.CollectionConverters._

import io.keyfold.bench.{Effort, Figure, Outcome}
import jdk.jfr.{Configuration, Recording}

/** Repeats a work: rounds to warm up, then rounds that count, each after a full collection, so that
  * it does not pay for the garbage of the one before.
  *
  * @param profile
  *   where a JFR recording of the rounds that count goes, if one is wanted
  */
final class Rounds(effort: Effort, profile: Option[Path]) {
  def measure(work: Work): Outcome.Measured = {
    work.prepare()
    val warmUps = repeat(work, 0, work.warmUpSeconds(effort))
    val recording = profile.map(_ => new Recording(Configuration.getConfiguration("profile")))
    recording.foreach(_.start())
    var figures = Vector.empty[Figure]
    var gcMs = 0L
    var seconds = 0.0
    var done = 0
    while (done < work.rounds(effort) && seconds < effort.enoughSeconds) {
      System.gc()
      val (start, gcStart) = (System.nanoTime, collectionMs())
      figures ++= work.round(warmUps + done)
      gcMs += collectionMs() - gcStart
      seconds += (System.nanoTime - start) / 1e9
      work.settle()
      done += 1
    }
    for (running <- recording; file <- profile) {
      running.stop()
      running.dump(file)
    }
    Outcome.Measured(Figure.joined(figures), gcMs)
  }

  /** @return
    *   the number of the next round
    */
  private def repeat(work: Work, first: Int, forSeconds: Double): Int = {
    val start = System.nanoTime
    var number = first
    while ((System.nanoTime - start) / 1e9 < forSeconds) {
      work.round(number)
      work.settle()
      number += 1
    }
    number
  }

  private def collectionMs(): Long =
    ManagementFactory.getGarbageCollectorMXBeans.asScala.map(_.getCollectionTime).sum
}

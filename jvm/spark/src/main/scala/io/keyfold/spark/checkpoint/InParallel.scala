package io.keyfold.spark.checkpoint

import java.util.concurrent.Callable

import scala.jdk.CollectionConverters._

import io.keyfold.io.IdleThreads
import io.keyfold.rescale.StorePlanner

/** Runs file operations concurrently, since they mostly wait. */
private[spark] final class InParallel(threads: Int)
    extends StorePlanner.Parallel
    with AutoCloseable {
  private val pool = IdleThreads("keyfold-files", threads)

  override def apply[A, B](items: Seq[A])(f: A => B): Seq[B] = {
    val tasks = items.map(item => (() => f(item)): Callable[B])
    pool.invokeAll(tasks.asJava).asScala.toSeq.map(IdleThreads.resultOf(_))
  }

  override def close(): Unit = {
    pool.shutdownNow()
    ()
  }
}

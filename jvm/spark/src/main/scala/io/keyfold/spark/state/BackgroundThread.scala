package io.keyfold.spark.state

import java.util.concurrent.Executor

import io.keyfold.io.IdleThreads

/** Maintenance of all stores of this JVM that is due when they are loaded, one store after the
  * other, so that many stores do not take the tasks' cores, memory and bandwidth at once.
  */
private[spark] object BackgroundThread extends Executor {
  private val threads = IdleThreads("keyfold-maintenance", most = 1)

  override def execute(work: Runnable): Unit = threads.execute(work)
}

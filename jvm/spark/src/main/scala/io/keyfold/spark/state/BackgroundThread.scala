package io.keyfold.spark.state

import java.util.concurrent.{Executor, LinkedBlockingQueue, ThreadPoolExecutor, TimeUnit}

/** Maintenance of all stores of this JVM that is due when they are loaded, one store after the
  * other, so that many stores do not take the tasks' cores, memory and bandwidth at once. It does
  * not keep the JVM running.
  */
private[spark] object BackgroundThread extends Executor {
  private val IdleSeconds = 10L

  private val threads = {
    val pool = new ThreadPoolExecutor(
      1,
      1,
      IdleSeconds,
      TimeUnit.SECONDS,
      new LinkedBlockingQueue[Runnable],
      (work: Runnable) => {
        val thread = new Thread(work, "keyfold-maintenance")
        thread.setDaemon(true)
        thread
      }
    )
    pool.allowCoreThreadTimeOut(true)
    pool
  }

  override def execute(work: Runnable): Unit = threads.execute(work)
}

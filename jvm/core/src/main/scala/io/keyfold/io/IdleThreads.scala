package io.keyfold.io

import java.util.concurrent.{ExecutorService, LinkedBlockingQueue, ThreadPoolExecutor, TimeUnit}

/** Threads for what all stores of the JVM do beside their tasks. They end when there is none for
  * ten seconds, and do not keep the JVM running.
  */
object IdleThreads {
  private val IdleSeconds = 10L

  /** @param most
    *   how much work is done at once; other work waits
    */
  def apply(name: String, most: Int): ExecutorService = {
    val pool = new ThreadPoolExecutor(
      most,
      most,
      IdleSeconds,
      TimeUnit.SECONDS,
      new LinkedBlockingQueue[Runnable],
      (work: Runnable) => {
        val thread = new Thread(work, name)
        thread.setDaemon(true)
        thread
      }
    )
    pool.allowCoreThreadTimeOut(true)
    pool
  }
}

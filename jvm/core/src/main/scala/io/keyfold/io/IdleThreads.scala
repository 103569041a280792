package io.keyfold.io

import java.util.concurrent.{
  BlockingQueue,
  ExecutionException,
  ExecutorService,
  Future,
  LinkedBlockingQueue,
  SynchronousQueue,
  ThreadPoolExecutor,
  TimeUnit
}

/** Threads for what all stores of the JVM do beside their tasks. They end when there is none for
  * ten seconds, and do not keep the JVM running.
  */
object IdleThreads {
  private val IdleSeconds = 10L

  /** @param most
    *   how much work is done at once; other work waits
    */
  def apply(name: String, most: Int): ExecutorService = {
    val pool = newPool(name, most, most, new LinkedBlockingQueue[Runnable])
    pool.allowCoreThreadTimeOut(true)
    pool
  }

  /** Waits for work that was given to a thread. Throws what that threw. */
  def resultOf[T](work: Future[T]): T =
    try work.get
    catch { case e: ExecutionException => throw e.getCause }

  /** No work waits: for callers that have little at once. */
  def unlimited(name: String): ExecutorService =
    newPool(name, 0, Int.MaxValue, new SynchronousQueue[Runnable])

  private def newPool(name: String, least: Int, most: Int, waiting: BlockingQueue[Runnable]) =
    new ThreadPoolExecutor(
      least,
      most,
      IdleSeconds,
      TimeUnit.SECONDS,
      waiting,
      (work: Runnable) => {
        val thread = new Thread(work, name)
        thread.setDaemon(true)
        thread
      }
    )
}

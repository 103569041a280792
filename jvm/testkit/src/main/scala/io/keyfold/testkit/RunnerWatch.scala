package io.keyfold.testkit

/** Keeps a process that a runner has started from outliving it. */
object RunnerWatch {

  /** Ends this process when its standard input ends, as it does when the runner ends, however that
    * came about.
    */
  def start(): Unit = {
    val watch = new Thread(() => {
      while (System.in.read() >= 0) {}
      Runtime.getRuntime.halt(1)
    })
    watch.setDaemon(true)
    watch.start()
  }
}

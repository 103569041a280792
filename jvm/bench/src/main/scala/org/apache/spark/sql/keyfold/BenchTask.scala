package org.apache.spark.sql.keyfold

import org.apache.spark.TaskContext

/** A task on this thread, as stores expect one: they let go of what they have handed out when it
  * ends.
  */
object BenchTask {
  def begin(): Unit = TaskContext.setTaskContext(TaskContext.empty())

  def end(): Unit = {
    TaskContext.get().markTaskCompleted(None)
    TaskContext.unset()
  }
}

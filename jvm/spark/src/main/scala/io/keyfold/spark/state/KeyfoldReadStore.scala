package io.keyfold.spark.state

import io.keyfold.store.StoreView
import org.apache.spark.TaskContext
import org.apache.spark.sql.execution.streaming.state._

/** A committed version to read. Released by the caller or, because Spark does not always do it, at
  * the end of the task.
  */
private[spark] final class KeyfoldReadStore(
    override val id: StateStoreId,
    view: StoreView,
    override protected val schemas: FamilySchemas
) extends FamilyReads {
  override protected val families = new StoreFamilies(view, schemas)

  Option(TaskContext.get()).foreach(_.addTaskCompletionListener[Unit](_ => release()))

  override def version: Long = view.version.version

  override def abort(): Unit = release()
  override def release(): Unit = view.release()
}

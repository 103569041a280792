package io.keyfold.spark.state

import io.keyfold.store.StoreView
import org.apache.spark.sql.execution.streaming.state._

/** A committed version to read. */
private[spark] final class KeyfoldReadStore(
    override val id: StateStoreId,
    view: StoreView,
    override protected val schemas: FamilySchemas
) extends FamilyReads {
  override protected val families = new StoreFamilies(view, schemas)

  override def version: Long = view.version.version

  override def abort(): Unit = release()
  override def release(): Unit = view.release()
}

package io.keyfold.bench.cell

import java.nio.file.{Files, Path}
import java.util.UUID

import io.keyfold.bench.Provider
import io.keyfold.testkit.{ShelllessLocalFileSystem, ShelllessLocalFs}
import org.apache.hadoop.conf.Configuration
import org.apache.spark.sql.execution.streaming.state._
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.keyfold.{BenchTask, SparkPrivate, SparkShim}

/** A store of one provider in a folder of its own, driven as tasks drive it: one version after the
  * other, under the checkpoint format that is set, by default v1.
  *
  * @param settings
  *   Spark settings besides those of the provider
  */
final class BenchStore(
    provider: Provider,
    layout: Layout,
    settings: Map[String, String] = Map.empty
) {
  val folder: Path = Files.createTempDirectory("checkpoint")
  private var instance = create()
  private var newest = 0L
  private var newestId: Option[String] = None

  def begin(): StateStore = begin(forceSnapshot = false)

  private def begin(forceSnapshot: Boolean) = {
    BenchTask.begin()
    instance.getStore(newest, newestId, forceSnapshot)
  }

  /** Ends what `begin` began. */
  def commit(store: StateStore): Unit = {
    newest = store.commit()
    newestId = store.getStateStoreCheckpointInfo().stateStoreCkptId
    BenchTask.end()
  }

  /** Gives up what `begin` began. */
  def abort(store: StateStore): Unit = {
    store.abort()
    BenchTask.end()
  }

  /** A batch of which only `body` and the commit are timed, not the opening.
    *
    * @return
    *   nanoseconds
    */
  def timed(body: StateStore => Unit): Long = {
    val store = begin()
    val start = System.nanoTime
    body(store)
    commit(store)
    System.nanoTime - start
  }

  def batch(body: StateStore => Unit): Unit = {
    timed(body)
    ()
  }

  /** A batch whose files include a snapshot. */
  def batchWithSnapshot(body: StateStore => Unit): Unit = {
    val store = begin(forceSnapshot = true)
    body(store)
    commit(store)
  }

  /** Rows `from` until `until`, in batches of at most a million. */
  def load(from: Int, until: Int): Unit =
    (from until until by BenchStore.LoadBatch).foreach { first =>
      val value = layout.shape.emptyValue()
      batch { store =>
        (first until math.min(first + BenchStore.LoadBatch, until)).foreach { row =>
          layout.shape.write(value, row, 0)
          store.put(layout.shape.key(row), value)
        }
      }
    }

  def load(rows: Int): Unit = load(0, rows)

  def reading[T](body: ReadStateStore => T): T = {
    BenchTask.begin()
    val store = instance.getReadStore(newest, newestId)
    try body(store)
    finally {
      store.release()
      BenchTask.end()
    }
  }

  def maintain(): Unit = instance.doMaintenance()

  /** Another instance over the same files, which knows nothing yet. */
  def reopen(): Unit = {
    instance.close()
    instance = create()
  }

  def close(): Unit = instance.close()

  private def create() = {
    val conf = new SQLConf
    val hadoopConf = new Configuration
    (BenchStore.Alone ++ provider.settings ++ settings).foreach { case (key, value) =>
      conf.setConfString(key, value)
      hadoopConf.set(key, value)
    }
    hadoopConf.set(SparkPrivate.RunIdKey, UUID.randomUUID.toString)
    hadoopConf.setInt(SparkShim.PartitionsKey, 1)
    BenchStore.fileSystem(provider).foreach { case (key, value) => hadoopConf.set(key, value) }
    val created = StateStoreProvider.create(provider.className)
    created.init(
      StateStoreId(folder.toUri.toString, 0, 0),
      layout.shape.keySchema,
      layout.shape.valueSchema,
      layout.spec,
      layout.columnFamilies,
      new StateStoreConf(conf),
      hadoopConf,
      layout.multipleValues,
      None
    )
    created
  }
}

object BenchStore {

  /** Settings of Hadoop: without its native library it would start a process for each file.
    * Keyfold's file manager does not write files by Hadoop.
    */
  def fileSystem(provider: Provider): Map[String, String] =
    if (provider == Provider.Keyfold) Map.empty
    else
      Map(
        "fs.file.impl" -> classOf[ShelllessLocalFileSystem].getName,
        "fs.AbstractFileSystem.file.impl" -> classOf[ShelllessLocalFs].getName
      )

  private val LoadBatch = 1000000

  /** There is no driver to report to. */
  private val Alone = Map(
    "spark.sql.streaming.stateStore.commitValidation.enabled" -> "false",
    "spark.sql.streaming.stateStore.coordinatorReportSnapshotUploadLag" -> "false"
  )
}

package io.keyfold.spark.rewrite

import scala.util.control.NonFatal

import org.apache.spark.sql.execution.streaming.state._
import org.apache.spark.sql.keyfold.SparkShim
import org.slf4j.LoggerFactory

/** Copies a version of one store of one operator from one provider to another. Sent to executors.
  *
  * @param store
  *   as it is read
  * @param batch
  *   whose version is written
  */
private final class StoreRewrite(store: StoreOfOperator, batch: Long, to: StateStoreConf)
    extends Serializable {
  import StoreRewrite._

  /** Runs in a task. What only another copy of the files can mend does not fail the task: Spark
    * would end the job while other tasks still write.
    *
    * @return
    *   id of the version written, empty if it has none; or why the old provider cannot read the
    *   version
    */
  def write(partition: Int): Either[String, String] =
    try Right(copied(partition).getOrElse(""))
    catch {
      case e: Unreadable =>
        log.warn(e.getMessage, e)
        Left(e.getMessage)
    }

  private def copied(partition: Int): Option[String] =
    store.using(partition)(read(_, partition)) { rows =>
      store.copy(conf = to).using(partition)(SparkShim.emptyStore(_, batch)) { copy =>
        store.families.foreach(family => family.put(family.rowsOf(rows), copy))
        copy.commit()
        copy.getStateStoreCheckpointInfo().stateStoreCkptId
      }
    }

  private def read(source: StateStoreProvider, partition: Int): StateStore = {
    val found =
      try store.of(partition)(source)
      catch {
        case NonFatal(e) =>
          val root = Iterator.iterate[Throwable](e)(_.getCause).takeWhile(_ != null).toSeq.last
          val why = s"cannot be read by ${store.conf.providerClass}: ${root.getMessage}"
          throw unreadable(source.stateStoreId, why.stripSuffix("."), e)
      }
    requireDeclared(source, found)
    found
  }

  /** Spark forgets the schema of a state variable that a run of the query did not declare, and its
    * provider keeps the rows.
    */
  private def requireDeclared(source: StateStoreProvider, found: StateStore): Unit = {
    val known = store.families.map(_.name).toSet + StateStore.DEFAULT_COL_FAMILY_NAME
    val others = (SparkShim.familyNames(source) -- known).filterNot(_.startsWith("$"))
    if (others.nonEmpty) {
      found.abort()
      throw new Unreadable(
        s"Version ${store.version} of the state in ${source.stateStoreId.storeCheckpointLocation()} has the " +
          s"state variables ${others.toSeq.sorted.mkString(", ")}, which the last run of the query did " +
          "not declare. A migration would lose their rows. Run a batch with the old provider in which " +
          "the query declares them, or removes them by `deleteIfExists`; then migrate again.",
        null
      )
    }
  }

  private def unreadable(id: StateStoreId, why: String, cause: Throwable) = new Unreadable(
    s"Version ${store.version} of the state in ${id.storeCheckpointLocation()} $why. Restore its files from " +
      "a copy and migrate again, or start with a new checkpoint location: no batch is left to go " +
      "back to, since Keyfold goes back in state of its own only. The old state was not changed.",
    cause
  )
}

private object StoreRewrite {
  private val log = LoggerFactory.getLogger(classOf[StoreRewrite])

  private final class Unreadable(reason: String, cause: Throwable) extends Exception(reason, cause)
}

package io.keyfold.spark

import java.nio.file.{Files, Path}

import org.apache.spark.SparkException
import org.apache.spark.sql.execution.streaming.state._

/** The life of one store at the level of Spark's provider, over files that can fail, with what each
  * version must hold.
  *
  * @param format
  *   checkpoint format version, 1 or 2
  */
final class ProviderHistory(format: Int, confs: Map[String, String] = Map.empty)
    extends LaterCalls {
  import ProviderHistory._

  val fixture = new ProviderFixture
  private var attempts = 0L
  private var good = Map(0L -> Attempt(0, None, Map.empty))
  private var provider: StateStoreProvider = open()

  /** The attempt that [[tryCommit]] made last, if it did. */
  var tried: Option[Attempt] = None

  def current: StateStoreProvider = provider

  /** A provider with nothing in memory: another executor. */
  def open(): StateStoreProvider = fixture.provider(
    confs + ("spark.sql.streaming.stateStore.checkpointFormatVersion" -> format.toString),
    fixture.faults.settings
  )

  def restart(): Unit = {
    provider.close()
    provider = open()
  }

  def attempt(version: Long): Option[Attempt] = good.get(version)

  /** Commits an attempt at a version: it puts a row and overwrites one. May fail. */
  def tryCommit(
      version: Long,
      in: StateStoreProvider = provider,
      on: Option[Attempt] = None,
      force: Boolean = false
  ): Attempt = {
    val base = on.getOrElse(good(version - 1))
    attempts += 1
    val store = in.getStore(base.version, base.id, force)
    val attempt = Attempt(
      version,
      store.getStateStoreCheckpointInfo().stateStoreCkptId,
      base.rows + ProviderFixture.entry("newest", 0, attempts) +
        ProviderFixture.entry("k", version, attempts)
    )
    tried = Some(attempt)
    try {
      store.put(fixture.key("newest", 0L), fixture.value(attempts))
      store.put(fixture.key("k", version), fixture.value(attempts))
      store.commit()
    } finally store.abort()
    attempt
  }

  /** Commits a version, which is committed. */
  def commit(
      version: Long,
      in: StateStoreProvider = provider,
      on: Option[Attempt] = None,
      force: Boolean = false
  ): Attempt = {
    makeGood(tryCommit(version, in, on, force))
    tried = None
    good(version)
  }

  def makeGood(attempt: Attempt): Unit = good += attempt.version -> attempt

  /** What Spark's driver does when it goes on: a version counts as committed for good. */
  def confirm(version: Long, in: StateStoreProvider = provider): Unit =
    in.getStore(version, good(version).id).abort()

  /** What an executor that has nothing in memory finds; nothing if it is not there. */
  def loaded(attempt: Attempt): Option[Rows] = {
    val other = open()
    try seen(attempt, other)
    finally other.close()
  }

  /** What a reader finds; nothing if the version is not there. */
  def seen(attempt: Attempt, in: StateStoreProvider = provider): Option[Rows] =
    try {
      val store = in.getReadStore(attempt.version, attempt.id)
      try Some(fixture.rows(store.iterator()))
      finally store.release()
    } catch {
      case e: SparkException if e.getCondition == Missing => None
    }

  /** A copy of its own of files and of what is known of them. */
  def copy(confs: Map[String, String] = confs): ProviderHistory = {
    val other = new ProviderHistory(format, confs)
    other.attempts = attempts
    other.good = good
    val from = fixture.root
    val all = Files.walk(from)
    try
      all.filter(_ != from).forEach { (file: Path) =>
        Files.copy(file, other.fixture.root.resolve(from.relativize(file).toString))
        ()
      }
    finally all.close()
    other
  }

  def delete(): Unit = {
    provider.close()
    fixture.delete()
  }
}

object ProviderHistory {
  type Rows = Map[Seq[Any], Seq[Any]]

  private val Missing = "CANNOT_LOAD_STATE_STORE.CANNOT_READ_STREAMING_STATE_FILE"

  /** One attempt at a version, and the rows it is to have. */
  final case class Attempt(version: Long, id: Option[String], rows: Rows)

  /** Runs a test with a history and deletes its files. */
  def inHistory[T](history: ProviderHistory)(body: ProviderHistory => T): T =
    try body(history)
    finally history.delete()
}

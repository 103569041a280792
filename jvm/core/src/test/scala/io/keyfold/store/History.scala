package io.keyfold.store

import io.keyfold.errors.MissingFile
import io.keyfold.model.VersionId
import io.keyfold.store.file.StoreSettings
import io.keyfold.testkit.FaultPlan

/** The life of one store over files that can fail, with what each version must hold.
  *
  * @param ids
  *   whether each attempt has an id of its own, as under checkpoint format v2
  */
final class History(ids: Boolean, settings: StoreSettings = StoreFixture.settings) {
  import History._

  val fixture = new StoreFixture(settings = settings)
  var store: VersionedStore = fixture.open()
  private var attempts = 0
  private var good = Map(0L -> Attempt(VersionId.Empty, "", Map.empty))

  /** The attempt that [[tryCommit]] made last, if it did. */
  var tried: Option[Attempt] = None

  def plan: FaultPlan = fixture.faults.plan

  /** The attempt at a version that was committed, if one was. */
  def attempt(version: Long): Option[Attempt] = good.get(version)

  def id(version: Long): VersionId = good(version).version

  /** Commits an attempt at a version in `store`. It overwrites one row, puts one and removes one,
    * and may fail.
    *
    * @param on
    *   version it builds on, if not the one that was committed
    */
  def tryCommit(version: Long, on: Option[Attempt] = None, force: Boolean = false): Attempt = {
    attempts += 1
    val base = on.getOrElse(good(version - 1))
    val name = s"a$attempts"
    val removed = base.rows.keys.filter(_ != "newest").minOption.filter(_ => version > 3)
    val added = Map("newest" -> name, s"k$version" -> name)
    val id = VersionId(version, if (ids) name else "")
    val attempt = Attempt(id, name, base.rows -- removed ++ added)
    tried = Some(attempt)
    val txn = store.begin(base.version)
    try {
      removed.foreach(StoreFixture.remove(txn, _))
      added.foreach { case (key, value) => StoreFixture.put(txn, key, value) }
      txn.commit(id.id, force)
    } finally txn.abort()
    attempt
  }

  /** Commits a version, which is committed. */
  def commit(version: Long, force: Boolean = false): Unit = {
    val attempt = tryCommit(version, force = force)
    tried = None
    good += version -> attempt
  }

  /** Commits versions one after the other, with a look for a due snapshot after each. */
  def commitMaintained(versions: Range): Unit = for (v <- versions) {
    commit(v.toLong)
    store.snapshotIfDue()
  }

  /** What Spark's driver does when it goes on: a version in `store` counts as committed for good.
    */
  def confirm(version: Long): Unit = store.begin(id(version)).abort()

  def maintain(): Unit = {
    store.snapshotIfDue()
    store.cleanup()
    ()
  }

  /** Another process: nothing is in memory. */
  def restart(): Unit = {
    store.close()
    store = fixture.open()
  }

  /** What a process that has nothing in memory finds; nothing if it is not there. */
  def loaded(version: VersionId): Option[Map[String, String]] = {
    val other = fixture.open()
    try seen(version, other)
    finally other.close()
  }

  /** What a reader in `store` finds; nothing if it is not there. */
  def seen(version: VersionId, in: VersionedStore = store): Option[Map[String, String]] =
    try {
      val view = in.read(version)
      try Some(StoreFixture.rows(view))
      finally view.release()
    } catch {
      case _: MissingFile => None
    }

  def files: Seq[String] = fixture.blobs.list(fixture.location.folder)
}

object History {

  /** One attempt at a version, and the rows it is to have. */
  final case class Attempt(version: VersionId, name: String, rows: Map[String, String])
}

package io.keyfold.store

import scala.util.Random

import io.keyfold.format.wire.Codec
import io.keyfold.io.BlobStore
import io.keyfold.map.{MapsInUse, RowCursor}
import io.keyfold.model.{FamilySpec, StoreLocation, VersionId}
import io.keyfold.store.file.RowChecksumSettings

/** One of the stores of [[SoakMain]], with what its retained versions must hold.
  *
  * Stores of neighbouring numbers differ in kind: rows hashed or ordered, with one value or many,
  * attempts with ids or without, rows with checksums or without.
  */
private[store] final class SoakStore(number: Int, blobs: BlobStore, maps: MapsInUse, seed: Long) {
  import SoakStore._
  import StoreModel._

  private val random = new Random(seed * 1000 + number)
  private val location = StoreLocation(number.toLong, 1, StoreLocation.DefaultStore)
  private val family: FamilySpec = {
    val kind = if (number % 2 == 0) StoreFixture.rowFamily else StoreFixture.orderedFamily
    kind.copy(multiValue = number / 2 % 2 == 0)
  }
  private val draw = new SoakChanges(random)
  private val withIds = number / 4 % 2 == 0
  private val checksums = Option.when(number / 8 % 2 == 0)(RowChecksumSettings(10))

  private var newest = VersionId.Empty
  private var retained = Map(newest -> new StoreModel(family))
  private var store = open()
  private var loadsSeen = 0L
  private var isUnloaded = true

  var commits = 0L
  var loads = 0L

  /** Something to do, which may be tried again after [[io.keyfold.errors.OutOfMemory]]. */
  def nextStep(): () => Unit = random.nextInt(100) match {
    case n if n < 72 =>
      val (steps, id) = (draw.changes(), nextId())
      () => commit(newest, steps, id)
    case n if n < 76 =>
      val (steps, id, before) = (draw.changes(), nextId(), baseOfNewest)
      () => commit(before, steps, id)
    case n if n < 80 =>
      val steps = draw.changes()
      () => writing(newest, steps)((txn, _) => txn.abort())
    case n if n < 83 =>
      () => {
        unload()
        ()
      }
    case n if n < 86 =>
      val version = retained.keys.toSeq.sortBy(_.version).apply(random.nextInt(retained.size))
      () => reading(version)
    case _ => () => maintain()
  }

  /** @return whether it may have had rows in memory */
  def unload(): Boolean = {
    val had = !isUnloaded
    store.close()
    store = open()
    loadsSeen = 0
    isUnloaded = true
    had
  }

  def close(): Unit = store.close()

  private def open() = new VersionedStore(
    location,
    StoreFixture.settings.copy(
      deltasPerSnapshot = 10,
      snapshotAfterShare = if (random.nextBoolean()) 0.5 else 100,
      rowChecksums = checksums,
      codec = Codec.all(random.nextInt(Codec.all.size))
    ),
    Seq(family),
    blobs,
    StoreFixture.clock,
    _ => (),
    _.run(),
    maps.make
  )

  private def nextId() = if (withIds) f"${random.nextLong()}%016x" else ""

  /** Of the versions that a retry may leave out, the one below the newest. */
  private def baseOfNewest =
    retained.keys.find(_.version == newest.version - 1).getOrElse(newest)

  private def commit(base: VersionId, steps: Seq[Change], id: String): Unit =
    writing(base, steps) { (txn, model) =>
      newest = txn.commit(id, forceSnapshot = random.nextInt(200) == 0)
      val others = retained.filter { case (version, _) =>
        version.version < newest.version && newest.version - version.version <= Retained
      }
      retained = others + (newest -> model)
      commits += 1
    }

  private def writing(base: VersionId, steps: Seq[Change])(
      end: (StoreTxn, StoreModel) => Unit
  ): Unit = {
    isUnloaded = false
    val txn = store.begin(base)
    try {
      val before = retained(base)
      if (hasLoaded() || random.nextInt(20) == 0) compare(txn, before, "at its start")
      val model = steps.foldLeft(before.next)(_.after(txn, _))
      scanSome(txn)
      if (random.nextInt(20) == 0) compare(txn, model, "after changes")
      end(txn, model)
    } finally txn.release()
  }

  private def reading(version: VersionId): Unit = {
    isUnloaded = false
    val view = store.read(version)
    try compare(view, retained(version), "read")
    finally view.release()
    hasLoaded()
    ()
  }

  private def maintain(): Unit = {
    store.snapshotIfDue()
    store.cleanup()
    ()
  }

  private def hasLoaded(): Boolean = {
    val now = store.counters.loads.sum
    loads += now - loadsSeen
    val has = now > loadsSeen
    loadsSeen = now
    has
  }

  private def compare(view: StoreView, model: StoreModel, when: String): Unit = {
    val found = StoreFixture.lists(view.scan(view.indexOf(family)))
    if (found != model.rows) {
      val keys = (found.keySet ++ model.rows.keySet).filter(k => found.get(k) != model.rows.get(k))
      throw new AssertionError(s"$location version ${view.version} $when differs in $keys")
    }
  }

  /** Cursors that are closed before their end, or not at all. */
  private def scanSome(txn: StoreTxn): Unit = {
    def look(cursor: RowCursor): Unit = {
      for (_ <- 1 to random.nextInt(4)) cursor.next()
      if (random.nextBoolean()) cursor.close()
    }
    look(txn.scan(0))
    if (family.ordered) {
      look(txn.scanPrefix(0, StoreFixture.slice(s"key${random.nextInt(10)}")))
      look(txn.scanRange(0, StoreFixture.slice(draw.key()), null))
    }
  }
}

private object SoakStore {

  /** What [[StoreFixture.settings]] retain before the newest version. */
  private val Retained = 5
}

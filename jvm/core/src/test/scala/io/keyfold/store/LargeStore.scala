package io.keyfold.store

import scala.util.Random

import io.keyfold.format.{FileKind, FileReader}
import io.keyfold.io.BlobStore
import io.keyfold.model.{FamilySpec, VersionId}
import io.keyfold.store.file.StoreSettings
import io.keyfold.testkit.{HeldBlobStore, MemoryBlobStore}

/** A store with versions 1 to 4 of some thousand rows, due to write a snapshot of version 4. */
private final class LargeStore(
    family: FamilySpec,
    settings: StoreSettings = StoreFixture.settings
) {
  import StoreFixture._

  private val blobs = new MemoryBlobStore
  val held = new HeldBlobStore(blobs)
  val fixture: StoreFixture = new StoreFixture(blobs, settings = settings, family = family) {
    override protected def files: BlobStore = held
  }
  val store: VersionedStore = fixture.open()
  @volatile private var versions = Vector(Map.empty[String, String])
  private val random = new Random(42)

  for (v <- 1 to 4) commit(v)
  store.begin(VersionId(4)).release()

  def rows(version: Int): Map[String, String] = versions(version)

  /** Commits a version on the one before it. */
  def commit(version: Int): Unit = {
    val (txn, after) = written(version)
    txn.commit()
    versions :+= after
    txn.release()
  }

  /** As [[commit]], but gives up in the end. */
  def abort(version: Int): Unit = {
    val (txn, _) = written(version)
    txn.abort()
    txn.release()
  }

  /** Puts rows into the newest version, overwrites some and removes some. */
  private def written(version: Int) = {
    val txn = store.begin(VersionId(version - 1L))
    var after = versions(version - 1)
    for (_ <- 1 to (if (version == 1) 3000 else 1000)) {
      val key = s"key${random.nextInt(5000)}"
      if (random.nextInt(4) == 0) {
        require(remove(txn, key) == after.contains(key))
        after -= key
      } else {
        val value = random.nextInt(1000).toString * random.nextInt(250)
        put(txn, key, value)
        after = after.updated(key, value)
      }
    }
    (txn, after)
  }

  /** Blocks of a snapshot of version 4. */
  def snapshotBlocks: Int = {
    require(store.snapshotIfDue().contains(VersionId(4)))
    val path = fixture.path("4.snapshot")
    val file = FileReader.open(fixture.blobs, path, VersionId(4), FileKind.Snapshot)
    try file.footer.blocks.size
    finally {
      file.close()
      store.close()
    }
  }

  /** Whether a view has the rows of a version; a Boolean, since rows are too many to be printed. */
  def isVersion(version: Int, view: StoreView): Boolean = StoreFixture.rows(view) == rows(version)

  def hasInMemory(version: Int): Boolean = {
    val view = store.read(VersionId(version.toLong))
    try isVersion(version, view)
    finally view.release()
  }

  def hasInFiles(version: Int): Boolean = fixture.loaded(version.toLong) == rows(version)

  /** That the snapshot of a version gives its rows without the deltas before it. */
  def requireFromSnapshot(version: Int): Unit = {
    for (v <- 1 until version) fixture.blobs.delete(fixture.path(s"$v.delta"))
    require(hasInFiles(version), s"the snapshot of version $version is not what was committed")
  }

  /** Bytes of the pool that somebody has. */
  def usedBytes: Long = fixture.pool.allocatedBytes - fixture.pool.freeBytes

  def closeAndCheckMemory(): Unit = {
    store.close()
    require(usedBytes == 0, s"$usedBytes bytes are left")
  }
}

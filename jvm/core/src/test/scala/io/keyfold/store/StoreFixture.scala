package io.keyfold.store

import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.Files
import java.time.{Clock, Instant, ZoneOffset}
import java.util.concurrent.Executor

import scala.collection.mutable

import io.keyfold.format.wire.Codec
import io.keyfold.io.BlobStore
import io.keyfold.map.RowCursor
import io.keyfold.map.arena.ArenaMap
import io.keyfold.mem.Slice
import io.keyfold.mem.page.{PagePool, SpillFiles}
import io.keyfold.model.{FamilySpec, StoreLocation, VersionId}
import io.keyfold.store.file.{SnapshotRepair, StoreSettings}
import io.keyfold.testkit.{FaultyBlobStore, MemoryBlobStore}

/** A store of text rows in partition 1 of 4 over files in memory, opened as often as a test wants.
  */
class StoreFixture(
    val blobs: MemoryBlobStore = new MemoryBlobStore,
    val location: StoreLocation = StoreLocation(0, 1, StoreLocation.DefaultStore),
    val settings: StoreSettings = StoreFixture.settings,
    val family: FamilySpec = StoreFixture.rowFamily,
    val pool: PagePool = new PagePool(1L << 30, Some(StoreFixture.localFiles))
) {
  import StoreFixture._

  val snapshots: mutable.Buffer[VersionId] = mutable.Buffer.empty
  val faults = new FaultyBlobStore(blobs)

  /** What stores write to. */
  protected def files: BlobStore = faults

  /** What stores call. */
  protected def onSnapshot(version: VersionId): Unit = {
    snapshots += version
    ()
  }

  /** What stores would have done in the background: a process that ends at once does nothing. */
  protected def background: Executor = _ => ()

  def usedBytes: Long = pool.allocatedBytes + pool.mappedBytes - pool.freeBytes

  def open(
      settings: StoreSettings = settings,
      family: FamilySpec = family,
      writerWaitMs: Long = 30000
  ): VersionedStore =
    new VersionedStore(
      location,
      settings,
      Seq(family),
      files,
      clock,
      onSnapshot,
      background,
      new ArenaMap(_, pool),
      writerWaitMs
    )

  /** Commits one version on `base` in `store`. */
  def commit(store: VersionedStore, base: Long, rows: (String, String)*): VersionId = {
    val txn = store.begin(VersionId(base))
    rows.foreach { case (key, value) => put(txn, key, value) }
    txn.commit()
  }

  /** Commits versions 1 to `count` in a store of its own: version v puts `k<v> -> v`. */
  def commitVersions(count: Int, settings: StoreSettings = settings): Unit = {
    val store = open(settings)
    for (v <- 1 to count) commit(store, v - 1L, s"k$v" -> v.toString)
    store.close()
  }

  /** As [[commitVersions]], with a look for a due snapshot after each. */
  def commitMaintained(count: Int): Unit = {
    val store = open()
    for (v <- 1 to count) {
      commit(store, v - 1L, s"k$v" -> v.toString)
      store.snapshotIfDue()
    }
    store.close()
  }

  /** Rows of a version as a store that has nothing in memory loads them. */
  def loaded(version: Long): Map[String, String] = loaded(VersionId(version))

  def loaded(version: VersionId): Map[String, String] = loading(version)(rows(_))

  /** The same with all values of each row. */
  def loadedLists(version: VersionId): Map[String, Vector[String]] =
    loading(version)(view => lists(view.scan(0)))

  private def loading[T](version: VersionId)(use: StoreView => T): T = {
    val store = open()
    try {
      val view = store.read(version)
      try use(view)
      finally view.release()
    } finally store.close()
  }

  def path(file: String): String = s"${location.folder}/$file"
}

object StoreFixture {
  private lazy val localFiles = new SpillFiles(Files.createTempDirectory("keyfold-fixture"))

  val Partitions = 4
  val KeyGroups = 48

  val settings: StoreSettings = StoreSettings(
    partitions = Partitions,
    checksPartitions = true,
    keyGroups = KeyGroups,
    codec = Codec.Zstandard,
    deltasPerSnapshot = 3,
    deltaBytesPerSnapshot = Long.MaxValue,
    snapshotAfterShare = 0.5,
    repair = SnapshotRepair(enabled = true, tries = 1, maxDeltas = 500),
    rowChecksums = None,
    versionsToRetain = 5,
    versionsPerCleanup = 1,
    deletesPerCleanup = Int.MaxValue,
    versionsInMemory = 2,
    writer = "test",
    lazyFromBytes = 0
  )

  val rowFamily: FamilySpec = FamilySpec(
    "default",
    internal = false,
    multiValue = false,
    ordered = false,
    keyEncoding = "row",
    rowEncoding = "unsaferow",
    partitionKey = "all",
    keySchemaId = 0,
    valueSchemaId = 0
  )

  val orderedFamily: FamilySpec = rowFamily.copy(ordered = true, keyEncoding = "range:0")

  val clock: Clock = Clock.fixed(Instant.ofEpochMilli(1700000000000L), ZoneOffset.UTC)

  /** A hash that belongs to partition 1 of 4; negative for some keys. */
  def hash(key: String): Int = key.hashCode / Partitions * Partitions + 1

  val listFamily: FamilySpec = rowFamily.copy(multiValue = true)

  def slice(text: String): Slice = new Slice().set(text.getBytes(UTF_8))

  def put(txn: StoreTxn, key: String, value: String): Unit =
    txn.put(0, hash(key), slice(key), slice(value))

  def append(txn: StoreTxn, key: String, value: String): Unit =
    txn.append(0, hash(key), slice(key), slice(value))

  def remove(txn: StoreTxn, key: String): Boolean = txn.remove(0, hash(key), slice(key))

  def get(view: StoreView, key: String): Option[String] = {
    val value = new Slice
    Option.when(view.get(0, hash(key), slice(key), value))(text(value))
  }

  def rows(view: StoreView): Map[String, String] = rows(view.scan(0))

  /** All rows of a cursor; a key that comes twice is an error. */
  def rows(cursor: RowCursor): Map[String, String] = {
    val found = mutable.Map.empty[String, String]
    while (cursor.next()) {
      val before = found.put(text(cursor.key), text(cursor.value))
      require(before.isEmpty, s"${text(cursor.key)} came twice")
    }
    found.toMap
  }

  /** All rows of a cursor with all their values; a key that comes twice is an error. */
  def lists(cursor: RowCursor): Map[String, Vector[String]] = {
    val found = all(cursor)
    require(found.toMap.size == found.length, s"a key of $found came twice")
    found.toMap
  }

  /** The same, whatever comes. */
  def all(cursor: RowCursor): Vector[(String, Vector[String])] = {
    val found = Vector.newBuilder[(String, Vector[String])]
    while (cursor.next()) {
      val key = text(cursor.key)
      val values = Vector.newBuilder[String] += text(cursor.value)
      while (cursor.nextValue()) values += text(cursor.value)
      found += key -> values.result()
    }
    found.result()
  }

  /** Rows after versions 1 to `count` of [[StoreFixture.commitVersions]]. */
  def expected(count: Int): Map[String, String] =
    (1 to count).map(v => s"k$v" -> v.toString).toMap

  def text(slice: Slice) = new String(slice.toArray, UTF_8)
}

package io.keyfold.rescale

import scala.collection.mutable

import io.keyfold.format.{PlanName, RescalePlan, RescaledStore}
import io.keyfold.map.arena.ArenaMap
import io.keyfold.mem.Slice
import io.keyfold.mem.page.PagePool
import io.keyfold.model.{FamilySpec, StoreLocation, VersionId}
import io.keyfold.store.{StoreFixture, StoreTxn, VersionedStore}
import io.keyfold.store.file.StoreSettings
import io.keyfold.testkit.{FaultyBlobStore, MemoryBlobStore}
import org.scalatest.Assertions

/** All partitions of one store, as a query would drive them, beside the rows it must have. Its
  * number of partitions can be changed.
  *
  * @param ids
  *   whether each attempt has an id of its own, as under checkpoint format v2
  * @param families
  *   that each version has
  */
final class RescaledOperator(
    var partitions: Int,
    groups: Int,
    ids: Boolean,
    families: Seq[FamilySpec] = Seq(StoreFixture.listFamily),
    settings: StoreSettings = StoreFixture.settings.copy(versionsToRetain = 2)
) extends Assertions {
  import RescaledOperator._

  val blobs = new MemoryBlobStore
  val files = new FaultyBlobStore(blobs)
  private val pool = new PagePool(1L << 30, None)
  private var stores = Map.empty[Int, VersionedStore]
  private var attempts = 0

  /** What the versions that were committed are. */
  val versions: mutable.Map[Long, Version] =
    mutable.Map(0L -> Version(partitions, Vector.fill(partitions)(""), Map.empty))
  var version = 0L

  def current: Version = versions(version)

  private def newId(): String =
    if (!ids) ""
    else {
      attempts += 1
      s"a$attempts"
    }

  private def open(
      partition: Int,
      partitions: Int,
      settings: StoreSettings = settings
  ): VersionedStore = new VersionedStore(
    StoreLocation(0, partition, StoreLocation.DefaultStore),
    settings.copy(partitions = partitions, keyGroups = groups),
    families,
    files,
    StoreFixture.clock,
    _ => (),
    _ => (),
    new ArenaMap(_, pool)
  )

  private def store(partition: Int): VersionedStore = {
    val there = stores.getOrElse(partition, open(partition, partitions))
    stores += partition -> there
    there
  }

  /** Commits the next version in all partitions. */
  def batch(changes: Seq[Change]): Unit = {
    val before = current
    val rows = changes.foldLeft(before.rows)(_ after _)
    val made = (0 until partitions).map { p =>
      val txn = store(p).begin(VersionId(version, before.ids(p)))
      try {
        changes.foreach(_.applyTo(txn, p, partitions))
        txn.commit(newId()).id
      } finally txn.release()
    }
    version += 1
    versions(version) = Version(partitions, made, rows)
  }

  /** Writes the rows of a partition again, as another attempt at the newest version. */
  def rewrite(partition: Int): Unit = {
    restart()
    val before = current
    val of = VersionId(version, before.ids(partition))
    val txn = store(partition).beginAgain(of)
    try {
      for (((family, key), values) <- before.rows; value <- values)
        Append(family, key, value).applyTo(txn, partition, partitions)
      val made = txn.commit(of.again(newId()).id).id
      versions(version) = before.copy(ids = before.ids.updated(partition, made))
    } finally txn.release()
    restart()
  }

  /** Each store looks for a due snapshot, and for files to delete. */
  def maintain(of: Int => Boolean = _ => true): Unit = for (p <- 0 until partitions if of(p)) {
    snapshotIfDue(p)
    cleanup(p)
  }

  def snapshotIfDue(partition: Int): Unit = {
    store(partition).snapshotIfDue()
    ()
  }

  def cleanup(partition: Int): Unit = {
    store(partition).cleanup()
    ()
  }

  /** As [[maintain]], whatever fails. */
  def tryMaintain(): Unit = for (p <- 0 until partitions) {
    store(p).snapshotIfDue()
    try {
      store(p).cleanup()
      ()
    } catch { case _: java.io.IOException => () }
  }

  /** Each store reads the newest version, as a batch would begin. */
  def read(): Unit = for (p <- 0 until partitions) {
    store(p).read(VersionId(version, current.ids(p))).release()
  }

  /** Writes snapshots of a version in all partitions, whether they are due or not. */
  def snapshot(number: Long): Unit = {
    restart()
    snapshotLater(number)()
  }

  /** Loads a version in other stores, which write its snapshots when the result is called.
    *
    * @param writer
    *   a longer name makes a longer file
    */
  def snapshotLater(number: Long, writer: String = settings.writer): () => Unit = {
    val of = versions(number)
    val eager = settings.copy(deltasPerSnapshot = 1, snapshotAfterShare = 0, writer = writer)
    val stores = (0 until of.partitions).map { p =>
      val store = open(p, of.partitions, eager)
      store.read(VersionId(number, of.ids(p))).release()
      store
    }
    () =>
      stores.foreach { store =>
        store.snapshotIfDue()
        store.close()
      }
  }

  /** How many changes of the first family a feed has. */
  def changes(partition: Int, from: Long, end: Long): Int = {
    val feed = store(partition)
      .changes(from, VersionId(end, versions(end).ids(partition)), families.head.name)
    try Iterator.continually(feed.next()).takeWhile(identity).size
    finally feed.close()
  }

  /** The stores go, with all that they have in memory. */
  def restart(): Unit = {
    stores.valuesIterator.foreach(_.close())
    stores = Map.empty
  }

  def plan(to: Int): StorePlan =
    new StorePlanner(files, partitions, to, version, StorePlanner.InTurn)
      .plan(0, StoreLocation.DefaultStore, Option.when(ids)(current.ids.toIndexedSeq))

  /** Changes the number of partitions, which is a version of its own.
    *
    * @param isDecided
    *   or it breaks off before its batch is begun: under format v2 references are there by then
    */
  def rescale(to: Int, isDecided: Boolean = true): StorePlan = {
    restart()
    val store = plan(to)
    attempts += 1
    val name = PlanName(version, s"p$attempts")
    val named = store.partitions.map(it => it -> VersionId(version + 1, newId()))
    val references = named.map { case (it, id) => ReferenceWriter.pathOf(store, it, id) }
    val stores = Seq(RescaledStore(0, store.store, references, store.frozen))
    RescalePlan.write(files, RescalePlan(name, partitions, to, stores))
    if (isDecided || ids) {
      val writer = new ReferenceWriter(files, name, to, StoreFixture.clock, "test")
      val parts = writer.writeManifest(Seq(store)).head
      named.foreach { case (it, id) =>
        writer.write(store, it, id, store.partsOf(it.partition, parts))
      }
    }
    if (isDecided) {
      version += 1
      partitions = to
      versions(version) = Version(to, named.map(_._2.id), versions(version - 1).rows)
    }
    store
  }

  /** Loads a version with stores of its own and compares it, row by row. */
  def check(number: Long = version): Unit = {
    val expected = versions(number)
    val found = rows(number)
    for ((p, (_, key), _) <- found) {
      assert(Math.floorMod(hash(key), expected.partitions) == p, s"$key in $p")
    }
    assert(found.length == expected.rows.size, "a row is there twice, or not at all")
    assert(found.map { case (_, key, values) => key -> values }.toMap == expected.rows)
    ()
  }

  /** Loads a version with stores of its own.
    *
    * @return
    *   partition, family and key, and values of each row
    */
  def rows(number: Long): Seq[(Int, (String, String), Vector[String])] = {
    val of = versions(number)
    (0 until of.partitions).flatMap { p =>
      val store = open(p, of.partitions)
      try {
        val view = store.read(VersionId(number, of.ids(p)))
        try
          for {
            index <- view.families.indices
            name = view.families(index).spec.name
            (key, values) <- StoreFixture.all(view.scan(index))
          } yield (p, (name, key), values)
        finally view.release()
      } finally store.close()
    }
  }

  def close(): Unit = restart()
}

object RescaledOperator {

  /** @param rows
    *   by family and key
    */
  final case class Version(
      partitions: Int,
      ids: Seq[String],
      rows: Map[(String, String), Vector[String]]
  )

  def hash(key: String): Int = scala.util.hashing.MurmurHash3.stringHash(key)

  type Rows = Map[(String, String), Vector[String]]

  sealed trait Change {
    def applyTo(txn: StoreTxn, partition: Int, partitions: Int): Unit
    def on(rows: Rows): Rows
  }

  implicit private final class Changed(private val rows: Rows) extends AnyVal {
    def after(change: Change): Rows = change.on(rows)
  }

  private def row(key: String, partition: Int, partitions: Int)(does: => Any): Unit =
    if (Math.floorMod(hash(key), partitions) == partition) {
      does
      ()
    }

  final case class Put(family: String, key: String, value: String) extends Change {
    override def applyTo(txn: StoreTxn, partition: Int, partitions: Int): Unit =
      row(key, partition, partitions) {
        txn.put(indexOf(txn, family), hash(key), slice(key), slice(value))
      }
    override def on(rows: Rows): Rows = rows.updated((family, key), Vector(value))
  }

  /** A row that one partition gets, and whose hash gives another. */
  final case class Stray(key: String, in: Int) extends Change {
    override def applyTo(txn: StoreTxn, partition: Int, partitions: Int): Unit =
      if (partition == in) {
        val other = Math.floorMod(in + 1, partitions)
        txn.put(0, other, slice(key), slice("stray"))
      }
    override def on(rows: Rows): Rows = rows.updated(("default", key), Vector("stray"))
  }

  /** One partition looks for a key whose hash gives another. */
  final case class Looked(in: Int)(look: (StoreTxn, Int, Slice) => Any) extends Change {
    override def applyTo(txn: StoreTxn, partition: Int, partitions: Int): Unit =
      if (partition == in) {
        look(txn, Math.floorMod(in + 1, partitions), slice("k1"))
        ()
      }
    override def on(rows: Rows): Rows = rows
  }

  final case class Append(family: String, key: String, value: String) extends Change {
    override def applyTo(txn: StoreTxn, partition: Int, partitions: Int): Unit =
      row(key, partition, partitions) {
        txn.append(indexOf(txn, family), hash(key), slice(key), slice(value))
      }
    override def on(rows: Rows): Rows =
      rows.updatedWith((family, key))(values => Some(values.getOrElse(Vector()) :+ value))
  }

  final case class Remove(family: String, key: String) extends Change {
    override def applyTo(txn: StoreTxn, partition: Int, partitions: Int): Unit =
      row(key, partition, partitions) {
        val index = txn.families.indexWhere(_.spec.name == family)
        index >= 0 && txn.remove(index, hash(key), slice(key))
      }
    override def on(rows: Rows): Rows = rows - ((family, key))
  }

  /** A family goes, where it is. */
  final case class Drop(family: String) extends Change {
    override def applyTo(txn: StoreTxn, partition: Int, partitions: Int): Unit = {
      txn.dropFamily(family)
      ()
    }
    override def on(rows: Rows): Rows = rows.filterNot(_._1._1 == family)
  }

  private def slice(text: String) = StoreFixture.slice(text)

  private def indexOf(txn: StoreTxn, family: String): Int =
    txn.createFamily(StoreFixture.listFamily.copy(name = family))
}

package io.keyfold.store

import java.util.concurrent.atomic.AtomicReference

import io.keyfold.errors.{Invalid, MisplacedRow, OutOfOrder}
import io.keyfold.map.MapTxn
import io.keyfold.mem.Slice
import io.keyfold.model.{FamilySpec, Names, StoreLocation, VersionId}
import io.keyfold.store.file.{Placement, RowChecksum, StoreSettings}
import io.keyfold.store.load.LoadedVersions
import org.slf4j.LoggerFactory

/** The version after `base`, being written. Reads see the transaction's own writes; after `commit`
  * they still work, after `abort` they do not. Slices handed out stay until the transaction is
  * released, which the caller must do.
  *
  * @param always
  *   families that every version has
  * @param startedEmpty
  *   it began without rows and builds on no file
  */
final class StoreTxn private[store] (
    commits: Commits,
    location: StoreLocation,
    val base: VersionId,
    private[store] val loaded: LoadedVersions,
    override private[store] val rows: MapTxn,
    always: Seq[FamilySpec],
    settings: StoreSettings,
    rowChecksum: RowChecksum,
    private[store] val startedEmpty: Boolean
) extends StoreView(rows, base, location, rowChecksum) {
  import StoreTxn._

  private val state = new AtomicReference[State](Updating)
  for (family <- always if indexOf(family) < 0) rows.createFamily(family)
  private var placements = placementsOfFamilies()

  def isCommitted: Boolean = state.get == Committed

  /** Creates a column family unless it exists.
    *
    * @return
    *   its index
    * @throws io.keyfold.errors.FamilyMismatch
    *   if another family has that name
    */
  def createFamily(spec: FamilySpec): Int = {
    requireUpdating("create a column family")
    val there = indexOf(spec)
    if (there >= 0) {
      val is = families(there).spec
      // Of a family that was rescaled no row may be elsewhere: each is looked at as it comes.
      if (spec.strays && !is.strays && !is.rescaled) markStrays(there)
      there
    } else {
      requireWritable(spec)
      val index = rows.createFamily(spec)
      placements = placementsOfFamilies()
      index
    }
  }

  /** Limits of the file format: the number of families and the length of their names. */
  private def requireWritable(spec: FamilySpec): Unit = {
    def refuse(why: String) = throw new Invalid(
      "KEYFOLD_INVALID_ARGUMENT",
      s"Cannot create column family ${spec.name.take(100)} of $location: $why"
    )
    if (!Names.isText(spec.name)) {
      refuse(s"a name must be valid Unicode, of at most ${Names.Most} bytes in UTF-8")
    }
    if (rows.families.length >= Names.Most) refuse(s"there are ${Names.Most} already")
  }

  /** Removes a family with all its rows; the indices above its own go down by one.
    *
    * @return
    *   whether it existed
    */
  def dropFamily(name: String): Boolean = {
    requireUpdating("drop a column family")
    val index = rows.familyIndex(name)
    index >= 0 && {
      rows.dropFamily(index)
      placements = placementsOfFamilies()
      true
    }
  }

  /** Copies key and value in. A row whose hash gives another partition is kept, and its family is
    * marked: Spark's own providers keep it, too.
    *
    * @throws io.keyfold.errors.MisplacedRow
    *   if a rescale has placed rows of the family by their hash, and this one is elsewhere
    */
  def put(family: Int, hash: Int, key: Slice, value: Slice): Unit = {
    requireUpdating("put")
    if (!placements(family).fits(hash)) markStrays(family)
    rows.put(family, hash, key, rowChecksum.append(key, value))
  }

  /** Adds a value after those of the key, if any; copies both in.
    *
    * @throws io.keyfold.errors.MisplacedRow
    *   if a rescale has placed rows of the family by their hash, and this one is elsewhere
    */
  def append(family: Int, hash: Int, key: Slice, value: Slice): Unit = {
    requireUpdating("append")
    if (!placements(family).fits(hash)) markStrays(family)
    rows.append(family, hash, key, rowChecksum.append(key, value))
  }

  /** @return
    *   whether the key was there
    * @throws io.keyfold.errors.MisplacedRow
    *   as `put`, and as the other methods that look for a key
    */
  def remove(family: Int, hash: Int, key: Slice): Boolean = {
    requireUpdating("remove")
    requirePlace(family, hash)
    rows.remove(family, hash, key)
  }

  /** Removes the rows of an ordered family with `start <= key < end`; null: no bound.
    *
    * @return
    *   number of rows removed
    */
  def removeRange(family: Int, start: Slice, end: Slice): Long = {
    requireUpdating("remove a range")
    rows.removeRange(family, start, end)
  }

  /** Makes the rows a version, durable when this returns. If it throws, the transaction is still
    * open and must be aborted.
    *
    * @param id
    *   of this attempt; empty under checkpoint format v1
    * @param forceSnapshot
    *   write a snapshot as well
    * @return
    *   with another id than this if nothing has changed: it leads to the base, and nothing is
    *   written
    */
  def commit(id: String = "", forceSnapshot: Boolean = false): VersionId = {
    requireUpdating("commit")
    val version = commits.commit(this, VersionId(base.version + 1, id), forceSnapshot)
    if (state.compareAndSet(Updating, Committed)) commits.ended(this)
    version
  }

  /** Discards the rows. Does nothing when repeated, or after `commit`. */
  def abort(): Unit = if (state.compareAndSet(Updating, Aborted)) {
    try rows.abort()
    finally commits.ended(this)
  }

  /** Aborts, and frees the slices that were handed out. */
  override def release(): Unit = {
    try abort()
    finally super.release()
  }

  private def placementsOfFamilies() = rows.families
    .map(family => new Placement(family.spec, settings.partitions, location.partition))
    .toArray

  private def requireUpdating(what: String): Unit =
    if (state.get != Updating) throw outOfOrder(what)

  override protected def requireReadable(what: String): Unit =
    if (state.get == Aborted) throw outOfOrder(what)

  private def outOfOrder(what: String) = new OutOfOrder(
    s"Cannot $what on $location version ${base.version + 1}: it was already ${state.get.name}"
  )

  /** A stray would miss the state of its key, without a word. */
  override def requirePlace(family: Int, hash: Int): Unit =
    if (family >= 0 && !placements(family).finds(hash)) throw misplaced(family)

  private def markStrays(family: Int): Unit = {
    if (families(family).spec.rescaled) throw misplaced(family)
    rows.markStrays(family)
    placements = placementsOfFamilies()
    log.warn(
      s"${elsewhere(family)}. The query runs with the rows where they are, as with Spark's own " +
        "providers; its checkpoint cannot be rescaled (KEYFOLD_RESCALE_PLACEMENT)."
    )
  }

  private def misplaced(family: Int) = new MisplacedRow(
    s"${elsewhere(family)}, and a rescale has moved the rows of this family by that hash: the " +
      "query would not find the state that they have. Take " +
      "spark.sql.streaming.stateStore.keyfold.partitions away, if it is set, and rescale the " +
      "checkpoint to 1 partition, or roll it back to a batch before the rescale."
  )

  private def elsewhere(family: Int) =
    s"Rows of $location column family ${families(family).spec.name}, which has " +
      s"${settings.partitions} partitions, are not where the hashes of their keys say. Spark " +
      "partitions the operator's input by other values than those of the stored keys"
}

private[store] object StoreTxn {
  private val log = LoggerFactory.getLogger(classOf[StoreTxn])

  sealed abstract class State(val name: String)
  case object Updating extends State("open")
  case object Committed extends State("committed")
  case object Aborted extends State("aborted")
}

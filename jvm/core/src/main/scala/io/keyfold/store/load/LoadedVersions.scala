package io.keyfold.store.load

import scala.collection.immutable.VectorMap

import io.keyfold.errors.OutOfOrder
import io.keyfold.format.Ancestor
import io.keyfold.map.StateMap
import io.keyfold.model.VersionId
import io.keyfold.store.file.Lineage

/** The versions of a store that are in memory, each with its lineage.
  *
  * Not thread-safe: the store's lock guards it; the map guards itself.
  */
private[store] final class LoadedVersions(val map: StateMap, val keyGroups: Int) {
  import LoadedVersions._

  /** In the order of their commits. */
  private var lineages = VectorMap.empty[VersionId, Lineage]

  /** The thread that began the map's transaction; null if none is open. */
  var writer: Thread = _

  def isWritten: Boolean = writer != null

  /** Number of the version that the map's last transaction began on. */
  var begun = 0L

  def holds(version: VersionId): Boolean = map.holds(version)

  /** The lineage for a version written on top of `base`.
    *
    * @throws io.keyfold.errors.OutOfOrder
    *   if the base is not held any more
    */
  def lineageOf(base: VersionId): Lineage =
    if (base == VersionId.Empty) Lineage.Empty
    else
      lineages.getOrElse(
        base,
        throw new OutOfOrder(s"Cannot write on version $base: it is not in memory any more")
      )

  /** @return None for version 0 and for versions no longer held */
  def lineage(version: VersionId): Option[Lineage] = lineages.get(version)

  /** The newest version held, apart from version 0. */
  def newest: Option[VersionId] = lineages.keys.maxByOption(_.version)

  def committed(lineage: Lineage): Unit = lineages += lineage.head.version -> lineage

  /** A snapshot or merged delta is durable: lineages lead to it from now on.
    *
    * @param length
    *   of the file in bytes
    * @param rows
    *   of its version
    */
  def tierIsDurable(tier: Ancestor, length: Long, rows: Long): Unit =
    lineages = lineages.map { case (v, lineage) => v -> lineage.withTier(tier, length, rows) }

  /** Releases what a transaction on `base` does not need. Kept are the base, the first and the last
    * attempts at the next version, one of which a later transaction will name, and older versions.
    *
    * @param count
    *   how many numbers of versions are kept, counting that of the next version; but the base stays
    */
  def retain(base: VersionId, count: Int): Unit = {
    val written = base.written
    val older = lineages.keys.map(_.version).filter(_ < written.version).toSeq.distinct
    val kept = older.sorted.takeRight(count - 2).toSet
    // Without an id, nobody could say later which attempt it is.
    val attempts =
      lineages.keys.filter(v => v.version == base.version + 1 && v.id.nonEmpty).toSeq
    // Of several in one batch Spark keeps the first.
    val ofUse = (attempts.take(1) ++ attempts.takeRight(MostAttempts)).toSet
    map.retain(v => v == written || ofUse(v) || kept(v.version))
    lineages = lineages.filter { case (v, _) => map.holds(v) }
  }
}

private object LoadedVersions {

  /** More than most batches have actions. One that fails is tried without end. */
  private val MostAttempts = 16
}

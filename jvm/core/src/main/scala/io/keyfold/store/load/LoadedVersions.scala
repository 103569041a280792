package io.keyfold.store.load

import io.keyfold.map.StateMap
import io.keyfold.model.VersionId
import io.keyfold.store.file.Lineage

/** The versions of a store that are in memory, each with its lineage.
  *
  * Not thread-safe: the store's lock guards it; the map guards itself.
  */
private[store] final class LoadedVersions(val map: StateMap, val keyGroups: Int) {
  private var lineages = Map.empty[VersionId, Lineage]

  def this(map: StateMap, keyGroups: Int, version: VersionId, lineage: Lineage) = {
    this(map, keyGroups)
    lineages += version -> lineage
  }

  def holds(version: VersionId): Boolean = map.holds(version)

  /** The lineage for a version written on top of `base`. */
  def lineageOf(base: VersionId): Lineage = lineages.getOrElse(base, Lineage.Empty)

  /** @return None for version 0 and for versions no longer held */
  def lineage(version: VersionId): Option[Lineage] = lineages.get(version)

  /** The newest version held, apart from version 0. */
  def newest: Option[VersionId] = lineages.keys.maxByOption(_.version)

  def committed(lineage: Lineage): Unit = lineages += lineage.head.version -> lineage

  /** Cuts lineages at `version`. */
  def snapshotIsDurable(version: VersionId): Unit =
    lineages = lineages.map { case (v, lineage) => v -> lineage.cutAt(version) }

  /** Releases versions newer than `version`, and all but the `count` newest of the others. */
  def retain(version: VersionId, count: Int): Unit = {
    map.retain(version, count)
    lineages = lineages.filter { case (v, _) => map.holds(v) }
  }
}

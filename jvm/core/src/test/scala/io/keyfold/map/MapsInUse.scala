package io.keyfold.map

import io.keyfold.map.arena.ArenaMap
import io.keyfold.mem.page.PagePool

/** Makes maps over one pool, and counts those that have memory, be they closed or not. */
final class MapsInUse(pool: PagePool) {
  private var maps = Vector.empty[ArenaMap]

  def make(keyGroups: Int): StateMap = synchronized {
    // Here too, so that the list does not grow between two counts.
    if (maps.size >= 1000) forget()
    val map = new ArenaMap(keyGroups, pool)
    maps :+= map
    map
  }

  /** Maps that have memory, and their objects; while nobody uses them. */
  def count(): (Int, Long) = synchronized {
    forget()
    (maps.size, maps.map(_.liveObjects).sum)
  }

  private def forget(): Unit = maps = maps.filter(_.memory.total > 0)
}

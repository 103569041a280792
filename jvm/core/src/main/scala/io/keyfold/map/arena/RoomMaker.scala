package io.keyfold.map.arena

import io.keyfold.map.cold.ColdSpace
import io.keyfold.map.hash.HashKey
import io.keyfold.map.version.{FamilyIndex, HashedIndex, VersionNode}
import io.keyfold.mem.arena.Arena
import io.keyfold.mem.page.PagePool

/** Decides when rows of a map leave memory, and which. The key groups take turns; rows that were
  * written a short while ago stay, if that is enough.
  *
  * Not thread-safe: only who may write to the arena uses it.
  */
private[map] class RoomMaker(
    arena: Arena,
    cold: ColdSpace,
    hashKey: HashKey,
    pool: PagePool
) {
  import RoomMaker._

  /** Where the next turn begins. */
  private var hand = 0

  /** Bytes of pages that the last transactions have added. */
  private var growth = 0L
  private var before = 0L

  /** Whether a version should give memory back before a transaction begins on it. */
  def isShort: Boolean = {
    growth = math.max(arena.pageBytes - before, growth / 2)
    before = arena.pageBytes
    excess > 0
  }

  /** Bytes that should leave memory. */
  protected def excess: Long = pool.excess(arena.pageBytes, growth)

  /** Moves rows of a version, which must have a new node, to files. */
  def settle(node: VersionNode): Unit = {
    val evictor = new Evictor(arena, cold, node, hashKey)
    val wanted = excess + arena.pageBytes / Share
    val recent = node.base.epoch - Recent
    var freed = turn(node, wanted)(evictor.settle(_, _, recent))
    if (freed < wanted) freed += turn(node, wanted - freed)(evictor.settle(_, _, node.epoch))
    before = math.max(arena.pageBytes - freed, 0)
    unasked = 0
  }

  /** Goes on with the groups until so much has been freed, at most once to each. */
  private def turn(node: VersionNode, wanted: Long)(evict: (HashedIndex, Int) => Long): Long = {
    val hashed = node.families.collect { case rows: HashedIndex => rows }
    val all = hashed.flatMap(rows => rows.roots.groups.map(rows -> _))
    var freed = 0L
    var i = 0
    while (freed < wanted && i < all.length) {
      val (rows, group) = all((hand + i) % all.length)
      freed += evict(rows, group)
      i += 1
    }
    hand += i
    freed
  }

  /** Bytes of pages that a transaction may have before it is asked again. */
  private var unasked = 0L

  /** Whether the open transaction should move what it has written to files. Called for each write.
    */
  def isPressed: Boolean = arena.pageBytes > unasked && pool.spill.nonEmpty && {
    val held = arena.pageBytes
    unasked = held + pool.shareBytes / Step
    // What versions hold cannot be freed now.
    pool.excess(held, 0) > 0 && held - before > pool.shareBytes / Share
  }

  /** Moves what a transaction has written to files.
    *
    * @param origins
    *   each family as it was in the base; null if it is new
    */
  def spill(node: VersionNode, origins: Array[FamilyIndex]): Unit = {
    val evictor = new Evictor(arena, cold, node, hashKey)
    for ((family, origin) <- node.families.zip(origins)) (family, origin) match {
      case (rows: HashedIndex, base: HashedIndex) =>
        for (group <- rows.roots.differing(base.roots))
          evictor.spill(rows, group, base.roots(group))
      case (rows: HashedIndex, _) =>
        for (group <- rows.roots.groups) evictor.spill(rows, group, rootOfBase = 0)
      case _ => ()
    }
    unasked = arena.pageBytes + pool.shareBytes / Step
  }
}

private object RoomMaker {

  /** A turn frees this part of the memory more than is needed, so that turns are rare. */
  private val Share = 8

  /** A transaction is asked again when it has taken this part of its share more. */
  private val Step = 32

  /** Rows that were written in so many epochs stay at first: those of the last batches. */
  private val Recent = 2
}

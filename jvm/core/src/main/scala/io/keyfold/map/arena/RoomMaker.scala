package io.keyfold.map.arena

import io.keyfold.map.cold.ColdSpace
import io.keyfold.map.hash.HashKey
import io.keyfold.map.version.{FamilyIndex, HashedIndex, VersionNode}
import io.keyfold.mem.arena.Arena
import io.keyfold.mem.page.PagePool

/** Decides when rows of a map leave memory, and which. The key groups take turns; rows that the
  * last transaction has written stay, if that is enough.
  *
  * It counts bytes of objects: the rows of a group lie on many pages, which others share, so that
  * pages do not get fewer when rows leave.
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

  /** Bytes that the last transactions have added. */
  private var growth = 0L

  /** Bytes that there were when the last transaction began. */
  private var before = 0L

  /** The epoch in which the last transaction began. */
  private var last = 0

  /** Bytes of pages that there may be before a transaction is asked again. */
  private var unasked = 0L

  /** What turns have moved that is not freed yet: other versions have it too. */
  private var pending = 0L

  /** The node of the last turn. */
  private var waitsFor: VersionNode = _

  /** Bytes that there must be before the next turn: the last one could not move what it should. */
  private var quietUntil = 0L

  /** Whether a version should give memory back before a task begins on it. */
  def isShort: Boolean = {
    if (waitsFor != null && isFreed(waitsFor)) {
      waitsFor = null
      pending = 0
    }
    arena.liveBytes >= quietUntil && excess > pending
  }

  /** Whether nothing older than the node is left, or the node is not. */
  private def isFreed(node: VersionNode) = node.taken || node.base.base == null

  /** Bytes that should leave memory. */
  protected def excess: Long = pool.excess(arena.liveBytes, arena.pageBytes, growth)

  /** Moves rows of a version, which must have a new node, to files. */
  def settle(node: VersionNode): Unit = {
    val evictor = new Evictor(arena, cold, node, hashKey)
    val wanted = math.max(excess - pending, 0) + arena.liveBytes / Share
    val enough = pending + wanted
    waitsFor = node
    // Until it has ended: the disk may be full.
    quietUntil = arena.liveBytes + pool.shareBytes / Share
    turn(node, enough)(evictor.settle(_, _, last - 1))
    turn(node, enough)(evictor.settle(_, _, node.epoch))
    if (pending >= enough) quietUntil = 0
  }

  /** Goes on with the groups until so much is moved, at most once to each. */
  private def turn(node: VersionNode, enough: Long)(evict: (HashedIndex, Int) => Long): Unit = {
    val hashed = node.families.collect { case rows: HashedIndex => rows }
    val all = hashed.flatMap(rows => rows.roots.groups.map(rows -> _))
    var left = all.length
    while (pending < enough && left > 0) {
      hand = (hand + 1) % all.length
      val (rows, group) = all(hand)
      pending += evict(rows, group)
      left -= 1
    }
  }

  /** A transaction begins. */
  def began(epoch: Int): Unit = {
    last = epoch
    countFromNow()
  }

  private def countFromNow(): Unit = {
    before = arena.liveBytes
    unasked = arena.pageBytes
  }

  /** A transaction has ended.
    *
    * @param isLoad
    *   whether it was a load of a version, which says nothing about the next one
    */
  def ended(isLoad: Boolean): Unit =
    growth = if (isLoad) 0 else math.max(arena.liveBytes - before, growth / 2)

  /** Whether the open transaction should move what it has written to files. Called for each write.
    */
  def isPressed: Boolean = arena.pageBytes > unasked && pool.spill.nonEmpty && {
    val step = pool.shareBytes / Step
    unasked = arena.pageBytes + step
    // What versions hold cannot be freed now.
    pool.isFull(step) && arena.liveBytes - before > pool.shareBytes / Share
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
    countFromNow()
    unasked += pool.shareBytes / Step
  }
}

private object RoomMaker {

  /** A turn frees this part of the memory more than is needed, so that turns are rare. */
  private val Share = 8

  /** A transaction is asked again when it has taken this part of its share more. */
  private val Step = 32
}

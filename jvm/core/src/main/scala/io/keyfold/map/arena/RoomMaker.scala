package io.keyfold.map.arena

import io.keyfold.map.cold.ColdSpace
import io.keyfold.map.version.VersionNode
import io.keyfold.mem.arena.Arena
import io.keyfold.mem.page.PagePool

/** Decides when rows of a map leave memory, and which. The key groups, and branches of ordered
  * families, take turns; rows that the last transaction has written stay, if that is enough.
  *
  * It counts bytes of objects: the rows of a group lie on many pages, which others share, so that
  * pages do not get fewer when rows leave.
  *
  * Not thread-safe: only who may write to the arena uses it.
  */
private[map] class RoomMaker(arena: Arena, cold: ColdSpace, keyGroups: Int, pool: PagePool) {
  import RoomMaker._

  /** Where the next turn begins. */
  private var hand = 0

  /** Bytes that the last transactions have added. */
  private var growth = 0L

  /** Bytes that there were when the last transaction began. */
  private var before = 0L

  /** The first epoch of the last transaction. */
  private var last = 0

  /** Bytes of pages that there may be before a transaction is asked again. */
  private var unasked = 0L

  /** Bytes that there must be before the next turn: the last one could not move what it should. */
  private var quietUntil = 0L

  /** Whether memory should be given back before a task begins. */
  def isShort: Boolean = arena.liveBytes >= quietUntil && excess > 0

  /** Bytes that should leave memory. */
  protected def excess: Long = pool.excess(arena.liveBytes, arena.pageBytes, growth)

  /** Moves rows that are the same in all versions to files.
    *
    * @param oldest
    *   the version that all others are built on
    * @param versions
    *   all of them, this one first
    */
  def settle(oldest: VersionNode, versions: Seq[VersionNode]): Unit = {
    val evictor = new Evictor(arena, cold, oldest)
    val leaves = new LeafEvictor(arena, cold, versions)
    val enough = excess + arena.liveBytes / Share
    // Until it has ended: the disk may be full.
    rest()
    val hashed: Seq[Int => Long] = for {
      rows <- oldest.hashed
      shared = versions.flatMap(_.hashedOrDropped).filter(_.table eq rows.table)
      group <- (rows.table.groups ++ rows.cold.groups).distinct
    } yield evictor.settle(shared, group, _)
    val all = (hashed ++ leaves.pieces.map(piece => leaves.settle(piece, _))).toIndexedSeq
    def turn(wanted: Long, epoch: Int): Long = {
      var moved = 0L
      var left = all.length
      while (moved < wanted && left > 0) {
        hand = (hand + 1) % all.length
        moved += all(hand)(epoch)
        left -= 1
      }
      moved
    }
    val older = turn(enough, math.min(oldest.epoch, last - 1))
    if (older + turn(enough - older, oldest.epoch) >= enough) quietUntil = 0 else rest()
  }

  /** The last turn was interrupted, and nothing speaks against another. */
  def interrupted(): Unit = quietUntil = 0

  /** There is no turn until a part of the memory more is taken. */
  private def rest(): Unit = quietUntil = arena.liveBytes + pool.shareBytes / Share

  /** A transaction begins.
    *
    * @param epoch
    *   its first
    */
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
    *
    * @param longest
    *   bytes of the longest list or leaf that came back to be written: it is to stay until as much
    *   again was written, or appends to a list would each write all of it
    */
  def isPressed(longest: Long): Boolean = arena.pageBytes > unasked && pool.spill.nonEmpty && {
    val step = pool.shareBytes / Step
    unasked = arena.pageBytes + step
    // What versions hold cannot be freed now.
    pool.isFull(step) && arena.liveBytes - before >
      math.max(math.max(pool.shareBytes / Share, LeastSpilled), 2 * longest)
  }

  /** Rows of a version that is loaded take so many bytes, if all come to memory; or no longer do.
    */
  def expect(change: Long): Unit = pool.expect(change)

  /** Whether rows that are loaded later should come to memory: if there is none for half of all
    * that are expected, it is for rows that are written.
    */
  def mayLoad: Boolean = pool.spill.isEmpty || !isFull && pool.hasRoomForHalf

  /** Whether rows that are loaded later should go to files at once. */
  def isFull: Boolean = pool.spill.nonEmpty &&
    pool.excess(arena.liveBytes, arena.pageBytes, pool.shareBytes / Step) > 0

  /** Rows of the version that was loaded have come: no transaction has written these bytes. */
  def loaded(bytes: Long): Unit = before += bytes

  /** Moves what a transaction has written to files. */
  def spill(node: VersionNode): Unit = {
    val evictor = new Evictor(arena, cold, node)
    node.hashed.foreach(evictor.spill(_, keyGroups))
    val leaves = new LeafSpiller(arena, cold, node)
    node.ordered.foreach(leaves.spill)
    countFromNow()
    unasked += pool.shareBytes / Step
  }
}

private object RoomMaker {

  /** A turn frees this part of the memory more than is needed, so that turns are rare. */
  private val Share = 8

  /** Bytes that a transaction may write before it moves them, however small its share is: rows that
    * come back with the next write must not go at once.
    */
  private val LeastSpilled = 1L << 17

  /** A transaction is asked again when it has taken this part of its share more. */
  private val Step = 32
}

package io.keyfold.map.cold

import scala.collection.mutable

import io.keyfold.errors.OutOfMemory
import io.keyfold.map.LazyRows
import io.keyfold.map.hash.HashKey
import io.keyfold.mem.{HashFilter, Mem, Slice}

/** Runs of key groups for which there was no room in memory when they were first asked for: their
  * rows stay in the copied blocks of the files that the version was loaded from, of which a look-up
  * has to decompress those of the group. So groups that are asked for more often are written to a
  * local file, sorted as runs are, some that lie side by side at once: they share blocks. Families
  * have one value a key.
  *
  * Threads: any.
  *
  * @param rows
  *   its monitor guards all
  * @param onDone
  *   called when `rows` are not needed any more for these runs, and when the last of them has been
  *   removed; with that monitor
  */
private[map] final class LazyRuns(
    files: ColdFiles,
    hashKey: HashKey,
    rows: LazyRows,
    onDone: () => Unit
) extends AutoCloseable {
  import LazyRuns._

  private val runs = mutable.ArrayBuffer.empty[Run]
  private val neighbours = mutable.Map.empty[(Int, Int), Neighbours]
  @volatile private var left = 0
  private var notStored = 0
  private val value = new Slice

  /** Any thread may call it, without the lock. */
  def isEmpty: Boolean = left == 0

  /** Whether all rows have been written. */
  def areStored: Boolean = notStored == 0

  /** Bytes of files that have been written. */
  def bytes: Long = files.bytes

  /** Whether what was written cannot be read. */
  def isBroken: Boolean = files.isBroken

  /** @param place
    *   where the group is among those of the family, in the order of the files
    * @return
    *   the number of the run with a family's rows of a group
    */
  def add(family: Int, group: Int, place: Int): Int = rows.synchronized {
    val beside =
      neighbours.getOrElseUpdate((family, place / Together), new Neighbours(place / Together))
    val run = new Run(family, group, place, beside)
    beside.runs(place % Together) = run
    runs += run
    left += 1
    notStored += 1
    runs.size - 1
  }

  /** The row of a key, before its first value.
    *
    * @param indexHash
    *   the hash by which runs are ordered
    * @param hash
    *   of the row
    * @param blocks
    *   of the caller, as `into`, which may be read into
    * @return
    *   null if there is none
    */
  def find(
      number: Int,
      indexHash: Int,
      hash: Int,
      key: Slice,
      blocks: RunBlocks,
      into: ColdBlock
  ): ColdRow = {
    val run = rows.synchronized {
      val run = runs(number)
      if (!run.isStored) run.beside.asked(1)
      if (!run.isStored) {
        return if (rows.find(run.family, run.group, hash, key, value)) ColdRow.of(hash, key, value)
        else null
      }
      run
    }
    // What was written does not change: nobody waits for the disk with the lock.
    if (HashFilter.mayHave(run.filter, indexHash)) point(blocks, run).find(indexHash, key, into)
    else null
  }

  private def point(to: RunBlocks, run: Run) =
    to.of(files, run.index, Mem.ArrayOffset, run.blocks, run.stored)

  /** Where the run's group is among those of its family, in the order of the files. */
  def place(number: Int): Int = rows.synchronized(runs(number).place)

  /** A run is about to be scanned, as it may be again. */
  def scanned(number: Int): Unit = rows.synchronized {
    if (!runs(number).isStored) runs(number).beside.asked(LeastFinds)
  }

  /** Steps through the rows of a run.
    *
    * @param epoch
    *   of the run
    */
  def cursor(number: Int, epoch: Int): ColdRunCursor = rows.synchronized {
    val run = runs(number)
    if (run.isStored) new ColdRunCursor.OfBlocks(epoch, point(new RunBlocks, run))
    else new ColdRunCursor.OfRows(epoch, sorted(run))
  }

  private def sorted(run: Run) = {
    val found = new UnsortedRows(hashKey)
    rows.put(run.family, run.group, found)
    found.sort()
    found
  }

  private def store(run: Run): Unit = {
    val (found, built) = (sorted(run), new RunBlocks.Builder)
    while (found.next()) found.row.copyTo(built.begin(found.hash), changed = false)
    built.finish()
    run.blocks = built.blocks
    run.index = new Array[Byte](RunBlocks.indexBytes(built.blocks))
    built.putIndex(run.index, Mem.ArrayOffset)
    run.filter = HashFilter.of(built.hashes.toArray)
    // Last: from now on the rows are read there.
    run.stored = if (built.blocks == 0) Empty else add(built)
    notStored -= 1
  }

  private def add(built: RunBlocks.Builder): Int = {
    val file = built.newFile(files)
    built.write(file)
    files.add(file)
  }

  def remove(number: Int): Unit = rows.synchronized {
    val run = runs(number)
    if (run.stored >= 0) files.remove(run.stored)
    if (!run.isStored) notStored -= 1
    run.beside.remove(run)
    runs(number) = null
    left -= 1
    if (notStored == 0) onDone()
  }

  override def close(): Unit = files.close()

  /** Runs of groups that lie side by side. Not all are to be written in the same batch, as they
    * would be if keys come evenly.
    */
  private final class Neighbours(number: Int) {
    val runs = new Array[Run](Together)
    private val mostFinds = Together * (LeastFinds + number % (2 * LeastFinds))
    private var finds = 0

    /** So many rows are looked up where they are not stored. */
    def asked(count: Int): Unit = {
      finds += count
      if (finds > mostFinds) {
        finds = 0
        try for (run <- runs if run != null && !run.isStored) store(run)
        catch {
          // The disk or the heap is full: the rows stay where they are.
          case _: OutOfMemory | _: OutOfMemoryError => ()
        }
        if (notStored == 0) onDone()
      }
    }

    def remove(run: Run): Unit = runs(runs.indexOf(run)) = null
  }

  private final class Run(
      val family: Int,
      val group: Int,
      val place: Int,
      val beside: Neighbours
  ) {

    /** Number in the files; or that the run is not stored; or that it is empty. */
    var stored: Int = NotStored
    def isStored: Boolean = stored != NotStored

    /** See [[RunBlocks]]. */
    var index = Array.emptyByteArray
    var blocks = 0

    /** Of its index hashes. */
    var filter = Array.emptyByteArray
  }
}

private object LazyRuns {
  private val NotStored = -1
  private val Empty = -2

  /** Groups that are written at once. */
  private val Together = 16

  /** Look-ups in a group, on average, before it is written: two times as many cost as much as that.
    */
  private val LeastFinds = 5
}

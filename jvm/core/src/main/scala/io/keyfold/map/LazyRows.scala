package io.keyfold.map

import io.keyfold.errors.LocalFileFailed
import io.keyfold.mem.Slice

/** Takes the entries that files have for some rows, in their order; see [[MapTxn]]. */
trait RowSink {

  /** The next rows that are put into a family are of one key group, and about this many. Only saves
    * time.
    */
  def expect(family: Int, rows: Int): Unit

  /** Replaces all values of a row by this one. */
  def put(family: Int, hash: Int, key: Slice, value: Slice): Unit

  /** Adds a value after those of a row; creates the row if needed.
    *
    * @throws io.keyfold.errors.Invalid
    *   if the family has one value per key
    */
  def append(family: Int, hash: Int, key: Slice, value: Slice): Unit

  /** Removes a row with all its values.
    *
    * @return
    *   whether the key was there
    */
  def remove(family: Int, hash: Int, key: Slice): Boolean
}

/** The rows of a version that is loaded: those of a key group are put into the map when somebody
  * first asks for one of them.
  *
  * Threads: any, one at a time.
  */
trait LazyRows extends AutoCloseable {

  /** Whether some could not be read: the version must be loaded again. */
  def isBroken: Boolean

  /** The key groups of which there are entries, each once: those that are put together, since they
    * are read together.
    */
  def groups(family: Int): Seq[Array[Int]]

  /** About how many rows of a group there are: entries of the same one count each.
    *
    * @return
    *   rows, and bytes of their keys and values
    */
  def size(family: Int, group: Int): (Long, Long)

  /** Looks for a row of one of these groups, of a family with one value a key.
    *
    * @param value
    *   is set to its value, valid until the next call
    * @return
    *   whether there is one
    */
  def find(family: Int, group: Int, hash: Int, key: Slice, value: Slice): Boolean

  /** Puts the rows of one of these groups.
    *
    * @throws io.keyfold.errors.StoreError
    *   if they cannot be read
    */
  def put(family: Int, group: Int, into: RowSink): Unit
}

/** Bytes in files on a local disk, which end with the process.
  *
  * Threads: one adds, then any read.
  */
trait LocalBytes extends AutoCloseable {

  /** @return
    *   the number of these bytes, from 0 on
    * @throws io.keyfold.errors.OutOfMemory
    *   if the disk has no room
    */
  def add(bytes: Array[Byte]): Int

  /** Reads a part of the bytes of a number.
    *
    * @throws io.keyfold.errors.LocalFileFailed
    *   if the disk does not give it
    */
  def read(number: Int, from: Int, length: Int): Array[Byte]

  /** What is thrown for bytes that are not what they were. */
  def failed(detail: String, cause: Throwable = null): LocalFileFailed
}

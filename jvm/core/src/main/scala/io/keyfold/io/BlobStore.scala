package io.keyfold.io

import java.io.OutputStream

import scala.annotation.unused

/** Files below one root (a checkpoint), named by relative path with `/`.
  *
  * Guarantees that Keyfold relies on; `BlobStoreSuiteBase` tests each for every implementation:
  *
  *   - G1 **Atomic create.** A file becomes visible whole, under its name, or not at all; when
  *     `write` throws, nothing new is visible.
  *   - G2 **Durable on return.** Once `write` has returned, the file survives a crash of this
  *     process, and of the machine as far as the file system promises it.
  *   - G3 **Read after write by name.** Once `write` has returned, `open` and `exists` of that name
  *     find it, from any process.
  *   - G4 **Replace is atomic.** Writing a name that exists gives readers the old bytes or the new.
  *   - G5 **Delete is idempotent.** Deleting a file that does not exist is no error.
  *   - G6 **List may lag.** The contents of a version never depend on a listing.
  */
trait BlobStore extends AutoCloseable {

  /** Creates or replaces the file with what `body` writes.
    *
    * @return
    *   its length in bytes
    * @throws java.io.IOException
    *   if it could not be written; nothing is visible then (G1)
    */
  def write(path: String)(body: OutputStream => Unit): Long

  /** Opens a file for reading by range.
    *
    * @throws java.io.FileNotFoundException
    *   if it does not exist
    */
  def open(path: String): BlobReader

  /** Opens a file that a listing has shown, so that the file system need not be asked for it. If it
    * has been replaced since, reads may fail or give less.
    *
    * @throws java.io.FileNotFoundException
    *   if it does not exist any more: now or when it is first read
    */
  def open(path: String, @unused listed: ListedFile): BlobReader = open(path)

  def exists(path: String): Boolean

  /** The files in a folder by their names, not paths; empty if there is no such folder. May lag
    * (G6).
    */
  def files(folder: String): Map[String, ListedFile]

  /** Their lengths in bytes. */
  final def lengths(folder: String): Map[String, Long] =
    files(folder).map { case (name, file) => name -> file.length }

  /** The names alone, sorted. */
  final def list(folder: String): Seq[String] = files(folder).keys.toSeq.sorted

  def delete(path: String): Unit

  /** How often the file system's own client has sent a request again since it was last asked.
    * Stores of one client share the count: each of these is told once.
    */
  def clientRetries(): Long = 0L

  /** The full name of the file, for messages. */
  def describe(path: String): String
}

/** A file as a listing has shown it. An implementation may know more of it.
  *
  * @param length
  *   in bytes
  */
class ListedFile(val length: Long)

/** An open file. */
trait BlobReader extends AutoCloseable {

  /** Length of the file in bytes. */
  def length: Long

  /** Reads `count` bytes from `position` of the file into a new array.
    *
    * @throws java.io.EOFException
    *   if the file is too short
    */
  def read(position: Long, count: Int): Array[Byte]
}

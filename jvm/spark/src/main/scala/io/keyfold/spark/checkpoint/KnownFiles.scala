package io.keyfold.spark.checkpoint

import org.apache.hadoop.fs.{FSDataInputStream, FileStatus, Path}

/** Calls of a checkpoint file manager of an object store that cost fewer requests, because the
  * caller knows that a path is a file, or what it is like.
  */
private[checkpoint] trait KnownFiles {

  /** @param file
    *   as it was listed
    * @param policy
    *   how it is going to be read: a name that Hadoop's `fs.option.openfile.read.policy` has
    */
  def openFile(file: FileStatus, policy: String): FSDataInputStream

  /** Whether there is such a file; a folder of the name is none. */
  def fileExists(path: Path): Boolean

  /** Deletes a file; it is no error if there is none. */
  def deleteFile(path: Path): Unit

  /** How often the file system's client has sent a request again since it was last asked. */
  def clientRetries(): Long
}

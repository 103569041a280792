package io.keyfold.spark.checkpoint

import org.apache.hadoop.fs.{FSDataInputStream, Path}

/** Calls of a checkpoint file manager that cost fewer requests, because the caller knows that a
  * path is a file, or how long it is.
  */
private[checkpoint] trait KnownFiles {

  /** @param length
    *   of the file, in bytes
    * @param policy
    *   how it is going to be read: a name that Hadoop's `fs.option.openfile.read.policy` has
    */
  def openFile(path: Path, length: Long, policy: String): FSDataInputStream

  /** Deletes a file; it is no error if there is none. */
  def deleteFile(path: Path): Unit
}

package io.keyfold.spark.admin.vacuum

/** An unreferenced file or folder.
  *
  * @param path
  *   relative to the checkpoint
  * @param old
  *   whether it may be deleted
  */
final case class Unreferenced(path: String, bytes: Long, old: Boolean)

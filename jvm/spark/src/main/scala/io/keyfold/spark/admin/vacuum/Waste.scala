package io.keyfold.spark.admin.vacuum

/** Something that is not needed.
  *
  * @param path
  *   of a file or folder, relative to the checkpoint
  * @param isOld
  *   whether it may go
  */
final case class Waste(path: String, bytes: Long, isOld: Boolean)

package io.keyfold.spark.admin.clone

/** What a sync has done.
  *
  * @param plan
  *   the files of the copy
  * @param files
  *   number of files that were copied, without logs
  * @param bytes
  *   of these
  * @param deleted
  *   number of files that the batch does not need
  */
final case class Synced(plan: ClonePlan, files: Int, bytes: Long, deleted: Int)

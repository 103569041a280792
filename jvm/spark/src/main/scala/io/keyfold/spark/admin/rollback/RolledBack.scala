package io.keyfold.spark.admin.rollback

/** A query that was taken to another batch, or may be.
  *
  * @param batch
  *   its last one now
  * @param from
  *   its last one before
  * @param aside
  *   folder of the checkpoint's `keyfold` folder that has what was newer; nothing: it was not done
  * @param files
  *   how many were moved, or would be
  */
final case class RolledBack(
    location: String,
    batch: Long,
    from: Long,
    aside: Option[String],
    files: Int
)

package io.keyfold.model

/** One attempt at a version: its number and, under Spark's checkpoint format v2, the attempt's
  * unique id (empty under v1).
  */
final case class VersionId(version: Long, id: String = "") {
  override def toString: String = if (id.isEmpty) version.toString else s"${version}_$id"
}

object VersionId {

  /** Version 0, which every store starts from: no rows and no files. */
  val Empty: VersionId = VersionId(0L)
}

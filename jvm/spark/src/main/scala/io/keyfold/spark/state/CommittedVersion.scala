package io.keyfold.spark.state

import io.keyfold.model.VersionId

/** A version that a task has committed.
  *
  * @param ms
  *   how long the commit took, in milliseconds
  */
private[spark] final case class CommittedVersion(version: VersionId, ms: Long)

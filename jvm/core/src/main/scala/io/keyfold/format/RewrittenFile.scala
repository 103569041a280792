package io.keyfold.format

/** A file of Spark's own that a rescale before an open batch changes: docs/FORMAT.md, section 10.
  *
  * @param path
  *   relative to the checkpoint
  * @param before
  *   its old content; None: there was no such file
  */
final case class RewrittenFile(
    path: String,
    before: Option[Array[Byte]],
    after: Option[Array[Byte]]
)

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

object RewrittenFile {

  /** A plan must not reach beyond the logs and the metadata of operators. */
  def mayBe(path: String): Boolean =
    path.matches("""(offsets|commits)/\d{1,18}|state/\d{1,18}/_metadata/v2/\d{1,18}""")
}

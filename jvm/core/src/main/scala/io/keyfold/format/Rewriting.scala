package io.keyfold.format

/** What a rescale before an open batch changes in Spark's own files: docs/FORMAT.md, section 10.
  *
  * @param files
  *   in the order in which they are rewritten
  * @param isUndone
  *   whether they are to have their old content again
  */
final case class Rewriting(files: Seq[RewrittenFile], isUndone: Boolean) {

  /** The files in the order in which they are to get what they should have. */
  def inOrder: Seq[RewrittenFile] = if (isUndone) files.reverse else files

  /** What a file should have; None: it should not be there. */
  def goal(file: RewrittenFile): Option[Array[Byte]] = if (isUndone) file.before else file.after

  /** What a file has as long as it is not replaced. */
  def opposite(file: RewrittenFile): Option[Array[Byte]] = if (isUndone) file.after else file.before
}

/** @param path
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

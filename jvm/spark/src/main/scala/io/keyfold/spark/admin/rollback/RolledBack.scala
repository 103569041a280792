package io.keyfold.spark.admin.rollback

/** The result of a rollback or its undo, or of its dry run.
  *
  * @param batch
  *   the last batch afterwards
  * @param from
  *   the last batch before
  * @param aside
  *   folder below the checkpoint's `keyfold` folder with the newer files; None: dry run
  * @param files
  *   number of files moved, or to move
  * @param sink
  *   location of the file sink whose log is taken back or restored too; None: there is none, or it
  *   is not known
  * @param warnings
  *   what to check
  * @param undone
  *   whether a rollback was undone: the files were put back
  */
final case class RolledBack(
    checkpoint: String,
    batch: Long,
    from: Long,
    aside: Option[String],
    files: Int,
    sink: Option[String],
    warnings: Seq[String],
    undone: Boolean = false
)

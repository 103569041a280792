package io.keyfold.spark.checkpoint

/** Commands for a shell, as errors name them. */
object Command {
  private val Plain = "[A-Za-z0-9@%+=:,./_-]+"

  def rescale(checkpoint: String, to: Int): String =
    s"keyfold rescale ${quoted(checkpoint)} --to $to --apply"

  def undoRescale(checkpoint: String): String =
    s"keyfold rescale ${quoted(checkpoint)} --undo --apply"

  /** @param sinkPath
    *   folder of the query's file sink, whose log is to go back too
    */
  def rollback(checkpoint: String, batch: Long, sinkPath: Option[String] = None): String = {
    val sink = sinkPath.fold("")(path => s" --sink-path ${quoted(path)}")
    s"keyfold rollback ${quoted(checkpoint)} --to-batch $batch$sink --apply"
  }

  def migrate(checkpoint: String): String = s"keyfold migrate ${quoted(checkpoint)} --apply"

  def undoMigrate(checkpoint: String): String =
    s"keyfold migrate ${quoted(checkpoint)} --undo --apply"

  def describe(checkpoint: String): String = s"keyfold describe ${quoted(checkpoint)}"

  def fsck(checkpoint: String): String = s"keyfold fsck ${quoted(checkpoint)}"

  private def quoted(word: String) =
    if (word.matches(Plain)) word else s"'${word.replace("'", "'\\''")}'"
}

package io.keyfold.spark.checkpoint

/** Commands for a shell, as errors name them. */
object Command {
  private val Plain = "[A-Za-z0-9@%+=:,./_-]+"

  def rescale(checkpoint: String, to: Int, sink: SinkChoice): String =
    s"keyfold rescale ${quoted(checkpoint)} --to $to${options(sink)} --apply"

  def undoRescale(checkpoint: String): String =
    s"keyfold rescale ${quoted(checkpoint)} --undo --apply"

  /** A rollback without a file sink need not say so. */
  def rollback(checkpoint: String, batch: Long, sink: SinkChoice): String = {
    val said = if (sink == SinkChoice.NoFileSink) SinkChoice.NotSaid else sink
    s"keyfold rollback ${quoted(checkpoint)} --to-batch $batch${options(said)} --apply"
  }

  def migrate(checkpoint: String, sink: SinkChoice): String =
    s"keyfold migrate ${quoted(checkpoint)}${options(sink)} --apply"

  def undoMigrate(checkpoint: String, sink: SinkChoice): String =
    s"keyfold migrate ${quoted(checkpoint)} --undo${options(sink)} --apply"

  def describe(checkpoint: String): String = s"keyfold describe ${quoted(checkpoint)}"

  def fsck(checkpoint: String): String = s"keyfold fsck ${quoted(checkpoint)}"

  private def options(sink: SinkChoice) = sink match {
    case SinkChoice.NotSaid      => ""
    case SinkChoice.NoFileSink   => " --no-file-sink"
    case SinkChoice.Folder(path) => s" --sink-path ${quoted(path)}"
  }

  private def quoted(word: String) =
    if (word.matches(Plain)) word else s"'${word.replace("'", "'\\''")}'"
}

package io.keyfold.spark.checkpoint

/** Whether the query writes files with a log in their folder, which must have every batch. */
sealed trait SinkChoice

object SinkChoice {

  /** @param path
    *   empty: there is no file sink; null: not said
    */
  def of(path: String): SinkChoice = path match {
    case null => NotSaid
    case ""   => NoFileSink
    case path => Folder(path)
  }

  /** Nobody has said. */
  case object NotSaid extends SinkChoice
  case object NoFileSink extends SinkChoice
  final case class Folder(path: String) extends SinkChoice
}

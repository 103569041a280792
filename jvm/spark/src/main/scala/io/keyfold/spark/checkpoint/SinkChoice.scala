package io.keyfold.spark.checkpoint

/** The query's file sink, if any: its log must have every batch. */
sealed trait SinkChoice

object SinkChoice {

  /** @param path
    *   empty: there is no file sink; null: not known
    */
  def of(path: String): SinkChoice = path match {
    case null => NotSaid
    case ""   => NoFileSink
    case path => Folder(path)
  }

  /** The caller has not said. */
  case object NotSaid extends SinkChoice
  case object NoFileSink extends SinkChoice
  final case class Folder(path: String) extends SinkChoice
}

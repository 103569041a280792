package io.keyfold.bench

/** How a cell ended. */
sealed abstract class Outcome

object Outcome {

  /** @param gcMs
    *   milliseconds of the measured rounds in which the JVM collected garbage
    */
  final case class Measured(figures: Seq[Figure], gcMs: Long) extends Outcome

  /** The provider says that it does not have the operation. */
  final case class Unsupported(reason: String) extends Outcome

  final case class Failed(reason: String) extends Outcome

  def toJson(outcome: Outcome): ujson.Obj = outcome match {
    case Measured(figures, gcMs) =>
      ujson.Obj(
        "status" -> "measured",
        "gcMs" -> ujson.Num(gcMs.toDouble),
        "figures" -> ujson.Arr.from(figures.map { figure =>
          ujson.Obj(
            "name" -> figure.name,
            "unit" -> figure.unit,
            "median" -> figure.median,
            "rounds" -> ujson.Arr.from(figure.rounds)
          )
        })
      )
    case Unsupported(reason) => ujson.Obj("status" -> "unsupported", "reason" -> reason)
    case Failed(reason)      => ujson.Obj("status" -> "failed", "reason" -> reason)
  }

  def ofJson(json: ujson.Value): Outcome = json("status").str match {
    case "measured" =>
      val figures = json("figures").arr.map { figure =>
        Figure(figure("name").str, figure("unit").str, figure("rounds").arr.map(_.num).toSeq)
      }
      Measured(figures.toSeq, json("gcMs").num.toLong)
    case "unsupported" => Unsupported(json("reason").str)
    case _             => Failed(json("reason").str)
  }
}

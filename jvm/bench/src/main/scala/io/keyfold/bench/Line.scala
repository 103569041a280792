package io.keyfold.bench

/** What a line of the page shows for one provider. */
sealed abstract class Shown

object Shown {
  final case class Value(number: Double) extends Shown
  final case class Text(text: String) extends Shown

  def of(result: Option[Result], figure: String): Shown = result.map(_.outcome) match {
    case None                               => Text("not run")
    case Some(Outcome.Unsupported(_))       => Text("unsupported")
    case Some(Outcome.Failed(_))            => Text("failed")
    case Some(Outcome.Measured(figures, _)) =>
      figures.find(_.name == figure).fold[Shown](Text("not measured"))(f => Value(f.median))
  }
}

/** What Keyfold's own number is to be, whatever the others do. */
final case class Bound(atMost: Boolean, limit: Double) {
  def holds(number: Double): Boolean = if (atMost) number <= limit else number >= limit
}

/** A line of the page: one thing measured, for all providers.
  *
  * @param cells
  *   (operation, rows, shape) it is taken from
  * @param shown
  *   of the results of `cells` by one provider, in that order
  * @param targets
  *   how many times better than another provider Keyfold is to be; less is better
  * @param compared
  *   whether numbers of different providers are put into relation at all
  */
final case class Line(
    what: String,
    unit: String,
    cells: Seq[(String, Int, String)],
    shown: (Provider, Seq[Option[Result]]) => Shown,
    targets: Map[Provider, Double] = Map.empty,
    bound: Option[Bound] = None,
    compared: Boolean = true
)

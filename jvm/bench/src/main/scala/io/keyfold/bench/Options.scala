package io.keyfold.bench

/** The command line.
  *
  * @param words
  *   a cell is run if its name holds all of them; none means all cells
  * @param fresh
  *   run also what has a result of the same code
  * @param profile
  *   record the measured rounds with JFR; such results are not kept
  * @param onlyPage
  *   run nothing, write the page from the results there are
  * @param scale
  *   part of the rows of each cell, to try the cells themselves; such results are not kept either
  */
final case class Options(
    effort: Effort = Effort.Full,
    words: Seq[String] = Nil,
    fresh: Boolean = false,
    profile: Boolean = false,
    onlyPage: Boolean = false,
    scale: Option[Double] = None
) {
  def selects(cell: Cell): Boolean = words.forall(cell.name.contains)

  /** Whether results say something about the code alone, and so may be kept. */
  def keepsResults: Boolean = !profile && scale.isEmpty
}

object Options {
  def parse(arguments: List[String], options: Options = Options()): Options = arguments match {
    case Nil                      => options
    case "--quick" :: rest        => parse(rest, options.copy(effort = Effort.Quick))
    case "--cell" :: text :: rest =>
      val words = text.split("[,\\s]+").toSeq.filter(_.nonEmpty)
      parse(rest, options.copy(words = options.words ++ words))
    case "--fresh" :: rest           => parse(rest, options.copy(fresh = true))
    case "--profile" :: rest         => parse(rest, options.copy(profile = true))
    case "--page" :: rest            => parse(rest, options.copy(onlyPage = true))
    case "--scale" :: factor :: rest => parse(rest, options.copy(scale = Some(factor.toDouble)))
    case other :: _ => throw new IllegalArgumentException(s"Invalid option: $other")
  }
}

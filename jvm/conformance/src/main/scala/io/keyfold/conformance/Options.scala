package io.keyfold.conformance

/** The command line.
  *
  * @param suites
  *   full names or last name parts; empty means all that are listed
  * @param timeoutMinutes
  *   for each suite; one that takes longer is ended and counts as failed
  * @param fresh
  *   run also where a result of the same code is there
  * @param renew
  *   put the results of the suites that are named beside those of the others that there are
  * @param pageOnly
  *   run nothing
  * @param verbose
  *   show what the suites print
  */
final case class Options(
    provider: Provider = Provider.Keyfold,
    suites: Seq[String] = Nil,
    timeoutMinutes: Long = 30L,
    fresh: Boolean = false,
    renew: Boolean = false,
    pageOnly: Boolean = false,
    verbose: Boolean = false
) {
  def measuresReach: Boolean = provider == Provider.Refusing
  def testsKeyfold: Boolean = provider == Provider.Keyfold
}

object Options {
  def parse(arguments: List[String], options: Options = Options()): Options = arguments match {
    case Nil                          => options
    case "--provider" :: name :: rest => parse(rest, options.copy(provider = Provider.parse(name)))
    case "--suite" :: suites :: rest  =>
      val names = suites.split(',').toSeq.map(_.trim).filter(_.nonEmpty)
      parse(rest, options.copy(suites = options.suites ++ names))
    case "--timeout-minutes" :: minutes :: rest =>
      parse(rest, options.copy(timeoutMinutes = minutes.toLong))
    case "--fresh" :: rest            => parse(rest, options.copy(fresh = true))
    case "--renew" :: rest            => parse(rest, options.copy(renew = true))
    case "--page" :: rest             => parse(rest, options.copy(pageOnly = true))
    case ("-v" | "--verbose") :: rest => parse(rest, options.copy(verbose = true))
    case other :: _ => throw new IllegalArgumentException(s"Invalid option: $other")
  }
}

package io.keyfold.conformance

/** What a run is of: all suites with one provider on one line of Spark.
  *
  * @param line
  *   major and minor number
  */
final case class RunOf(provider: Provider, line: String) {

  /** As columns of the page and names of files have it. */
  def name: String = s"${provider.name} $line"
}

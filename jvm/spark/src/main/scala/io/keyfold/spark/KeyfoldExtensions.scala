package io.keyfold.spark

import io.keyfold.errors.Invalid
import io.keyfold.spark.conf.ProviderClass
import io.keyfold.spark.partition.FlinkKeyGroup
import org.apache.spark.SPARK_VERSION
import org.apache.spark.sql.SparkSessionExtensions
import org.apache.spark.sql.keyfold.{
  AdmitTransformWithState,
  RefuseOtherProvider,
  SparkPrivate,
  SparkShim
}
import org.slf4j.LoggerFactory

/** For `spark.sql.extensions`: transformWithState, in all its forms, needs it to run with Keyfold.
  * `keyfold.configure` sets it. It is read when a session is made, and then also sees to it that
  * executors have the jar; queries whose checkpoint is another provider's are told what to do.
  * Besides it brings the SQL function [[FlinkKeyGroup]].
  *
  * Its rules see the plan of every query of the session. They touch nothing but stateful operators,
  * and fail in no query that would run without them.
  */
class KeyfoldExtensions extends (SparkSessionExtensions => Unit) {
  import KeyfoldExtensions._

  override def apply(extensions: SparkSessionExtensions): Unit =
    if (isMadeFor(SPARK_VERSION)) {
      application = running
      SparkPrivate.sendToExecutors(classOf[KeyfoldExtensions])
      extensions.injectColumnar(_ => new AdmitTransformWithState(ProviderClass.Keyfold))
      extensions.injectColumnar(_ => new RefuseOtherProvider(ProviderClass.BuiltIn))
      extensions.injectFunction(FlinkKeyGroup.description)
    } else {
      log.warn(
        "This jar of Keyfold is made for Spark {} and this is {}: its session extension does nothing",
        SparkShim.Line,
        SPARK_VERSION
      )
    }
}

private object KeyfoldExtensions {
  private val log = LoggerFactory.getLogger(classOf[KeyfoldExtensions])

  /** Id of the application that has the extension. */
  @volatile private var application: Option[String] = None

  /** Under another line of Spark the rules would end every query, with classes that are not there.
    */
  def isMadeFor(version: String): Boolean = version.startsWith(s"${SparkShim.Line}.")

  private def running = SparkPrivate.application

  /** Spark's own refusal tells nothing of the extension; a provider is asked for its metrics
    * shortly before, and for nothing else.
    *
    * @throws io.keyfold.errors.Invalid
    *   if transformWithState is about to be refused
    */
  def require(): Unit =
    if (running.isDefined && application != running && SparkShim.startsTransformWithState) {
      throw new Invalid(
        "KEYFOLD_EXTENSION_MISSING",
        s"Spark ${SparkShim.Line} refuses transformWithState to state store providers that it does " +
          s"not list. Set spark.sql.extensions=${classOf[KeyfoldExtensions].getName} where Spark is " +
          "started (spark-submit --conf, or a properties file), or call " +
          "keyfold.configure(SparkSession.builder) before the first session is made."
      )
    }
}

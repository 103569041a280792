package io.keyfold.spark

import io.keyfold.errors.Invalid
import io.keyfold.spark.conf.BuildInfo
import io.keyfold.spark.partition.FlinkKeyGroup
import io.keyfold.spark.plan.{PlannedOperators, ReadsEveryBatch, RuleOfLine}
import io.keyfold.spark.start.AtStart
import org.apache.spark.sql.SparkSessionExtensions
import org.apache.spark.sql.keyfold.{SparkPrivate, SparkShim}
import org.slf4j.LoggerFactory

/** For `spark.sql.extensions`: transformWithState, in all its forms, needs it to run with Keyfold.
  * `keyfold.configure` sets it. It is applied when a session is created, sends the jar to
  * executors, explains what to do with the checkpoint of another provider, and adds the SQL
  * function [[FlinkKeyGroup]].
  *
  * Its rules see the plan of every query of the session. They touch only stateful operators, and
  * fail no query that would run without them. On another line of Spark they would fail every query,
  * for lack of classes: there it does nothing but say so.
  */
class KeyfoldExtensions extends (SparkSessionExtensions => Unit) {
  import KeyfoldExtensions._

  override def apply(extensions: SparkSessionExtensions): Unit =
    LineOfSpark.mismatch.fold(use(extensions))(log.error("{}", _))

  private def use(extensions: SparkSessionExtensions): Unit = {
    application = running
    SparkPrivate.sendToExecutors(classOf[KeyfoldExtensions])
    extensions.injectColumnar(_ => PlannedOperators)
    extensions.injectColumnar(_ => RuleOfLine)
    extensions.injectPostHocResolutionRule(_ => ReadsEveryBatch)
    extensions.injectCheckRule(new AtStart(_))
    extensions.injectFunction(FlinkKeyGroup.description)
  }
}

private object KeyfoldExtensions {
  private val log = LoggerFactory.getLogger(classOf[KeyfoldExtensions])

  /** Id of the application that has the extension. */
  @volatile private var application: Option[String] = None

  private def running = SparkPrivate.application

  /** Whether the application that runs has the extension. */
  def isApplied: Boolean = running.isDefined && application == running

  /** Spark's own error does not mention the extension. Shortly before, Spark asks the provider for
    * its metrics, which is the only chance to check.
    *
    * @throws io.keyfold.errors.Invalid
    *   if transformWithState is about to be refused
    */
  def require(): Unit =
    if (running.isDefined && !isApplied && SparkShim.startsTransformWithState) {
      throw new Invalid(
        "KEYFOLD_EXTENSION_MISSING",
        s"Spark ${BuildInfo.line} refuses transformWithState to state store providers that it " +
          s"does not list. Set spark.sql.extensions=${classOf[KeyfoldExtensions].getName} where " +
          "Spark is started (spark-submit --conf, or a properties file), or call " +
          "keyfold.configure(SparkSession.builder) before the first session is created."
      )
    }
}

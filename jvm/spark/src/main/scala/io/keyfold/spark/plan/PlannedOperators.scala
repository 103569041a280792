package io.keyfold.spark.plan

import java.util.UUID

import io.keyfold.spark.partition.ShuffledKey
import org.apache.hadoop.conf.Configuration
import org.apache.spark.TaskContext
import org.apache.spark.sql.catalyst.encoders.AgnosticEncoders.{JavaBeanEncoder, ProductEncoder}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.execution.{ColumnarRule, SparkPlan}
import org.apache.spark.sql.keyfold.{SparkPrivate, SparkShim}
import org.apache.spark.sql.types.{StructField, StructType}
import org.slf4j.LoggerFactory

/** Tells executors what only the plan of a batch says of its stateful operators: of which run they
  * are, and by what Spark partitions their input.
  *
  * That need not be the stored key: Scala's `df.groupBy(...).as[K, V].transformWithState`
  * partitions by the grouping columns and stores keys of type K. With one partition no row shows
  * it, and a rescale would separate input and state, unless it computes the columns from the stored
  * key.
  *
  * Only what the plan proves is told. (A string that is no UTF-8 is stored as another one.)
  */
object PlannedOperators extends ColumnarRule {
  private val log = LoggerFactory.getLogger("io.keyfold.spark.KeyfoldExtensions")

  /** Setting that only Keyfold sets: `<operator>=<columns> `, and so on, and the id of the run. */
  private val Key = "spark.sql.streaming.internal.keyfold.operators"
  private val Told = "((?:\\d+=\\S* )*)(.*)".r
  private val Entry = "(\\d+)=(\\S*) ".r

  /** In place of columns. */
  private val AsStored = "stored"
  private val Strays = "strays"

  /** By what Spark partitions an operator's input.
    *
    * @param strays
    *   whether that cannot be computed from the stored keys
    * @param key
    *   how to compute it, if it is to be computed
    */
  final case class Shuffle(strays: Boolean, key: Option[ShuffledKey])

  /** Tells tasks of Keyfold's own, which have an id as runs of a query do. */
  def tell(conf: Configuration, run: UUID): Unit = conf.set(Key, run.toString)

  /** None if the plan says nothing of the operator. */
  def shuffleOf(conf: Configuration, operator: Long): Option[Shuffle] = told(conf) match {
    case Told(entries, run) if run == conf.get(SparkPrivate.RunIdKey) =>
      Entry.findAllMatchIn(entries).find(_.group(1).toLong == operator).map(_.group(2)).map {
        case AsStored => Shuffle(strays = false, None)
        case Strays   => Shuffle(strays = true, None)
        case columns  => Shuffle(strays = false, Some(ShuffledKey.named(columns)))
      }
    case _ => None
  }

  /** Whether a store is certainly of the run whose session this is: a function may read other state
    * in the session of a batch, of another number of partitions.
    */
  def isOfRun(conf: Configuration): Boolean = {
    val run = conf.get(SparkPrivate.RunIdKey)
    told(conf) match {
      case Told(_, told) if told.nonEmpty => told == run
      // A run has its id as the group of its jobs, other than those that its functions begin.
      case _ =>
        Option(TaskContext.get()).forall(_.getLocalProperty(SparkPrivate.JobGroupKey) == run)
    }
  }

  // Raw: the name of a column may have what Hadoop takes for a variable.
  private def told(conf: Configuration) = Option(conf.getRaw(Key)).getOrElse("")

  override val preColumnarTransitions: Rule[SparkPlan] = new Rule[SparkPlan] {
    override def apply(plan: SparkPlan): SparkPlan = {
      val operators = plan.collect { case it @ StateOfQuery(state) => it -> state }
      for ((_, first) <- operators.headOption) {
        val typed = operators.collect { case (it: Typed, state) => (it, state, columnsOf(it)) }
        val entries = typed.map { case (_, state, columns) => s"${state.operatorId}=$columns " }
        val told = entries.mkString + first.queryRunId
        // Each batch has a plan.
        if (conf.getConfString(Key, "") != told) {
          conf.setConfString(Key, told)
          typed.collect { case (it, state, Strays) => warn(it, state) }
        }
      }
      plan
    }
  }

  private type Typed = SparkShim.TransformWithStateExec

  private def shuffled(operator: Typed) =
    StructType(operator.groupingAttributes.map(a => StructField(a.name, a.dataType)))

  private def columnsOf(operator: Typed): String =
    ShuffledKey
      .of(shuffled(operator), operator.keyEncoder.schema, isByName(operator))
      .fold(Strays)(key => if (key.isStored) AsStored else key.toString)

  private def warn(operator: Typed, state: SparkShim.StatefulOperatorStateInfo): Unit =
    log.warn(
      s"Operator ${state.operatorId} of ${state.checkpointLocation} partitions its input by " +
        s"(${shuffled(operator).toDDL}) and stores keys as (${operator.keyEncoder.schema.toDDL}), " +
        "whose hashes differ. It runs as with Spark's own providers; new state of it cannot be " +
        "rescaled (KEYFOLD_RESCALE_PLACEMENT). Cast the columns to the types of the key to be able " +
        "to rescale it."
    )

  /** Whether Spark finds the columns for the fields of a key by their names; else by their order.
    */
  private def isByName(operator: Typed) = operator.keyEncoder.encoder match {
    case it: ProductEncoder[_] => !it.clsTag.runtimeClass.getName.startsWith("scala.Tuple")
    case _: JavaBeanEncoder[_] => true
    case _                     => false
  }
}

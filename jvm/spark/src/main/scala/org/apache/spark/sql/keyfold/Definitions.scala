package org.apache.spark.sql.keyfold

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.util.toPrettySQL
import org.apache.spark.sql.execution.python.EvalPythonExec
import org.apache.spark.sql.execution.{ExpandExec, ProjectExec, SparkPlan}
import org.apache.spark.sql.types.TimestampType

/** What the columns of a plan are computed from: Spark computes some before it groups by them,
  * under names of its own.
  *
  * @param sinceUs
  *   when the run began that made the plan, in microseconds since 1970
  */
private final class Definitions(plan: SparkPlan, sinceUs: Long) {
  private val known: Map[ExprId, Expression] = plan
    .collect {
      case it: ProjectExec    => it.projectList.collect { case a: Alias => a.exprId -> a.child }
      case it: ExpandExec     => it.output.map(_.exprId).zip(it.projections.head)
      case it: EvalPythonExec => it.resultAttrs.map(_.exprId).zip(it.udfs)
    }
    .flatten
    .toMap

  /** An expression as in a query, the same in each run of it. */
  def text(of: Expression): String = toPrettySQL(resolved(of, Set.empty).transform {
    case it: ExpressionWithRandomSeed                    => it.withNewSeed(0)
    case Literal(us: Long, TimestampType) if isOfRun(us) => Literal("time")
  })

  /** Whether a time is that of the run, and no constant of the query: see [[EmptyInput]]. */
  private def isOfRun(us: Long) = us >= sinceUs && us <= System.currentTimeMillis * 1000 + 999

  private def resolved(of: Expression, within: Set[ExprId]): Expression = of.transform {
    case it: AttributeReference if known.contains(it.exprId) && !within(it.exprId) =>
      resolved(known(it.exprId), within + it.exprId)
  }
}

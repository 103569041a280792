package io.keyfold.spark.partition

import io.keyfold.group.FlinkAssignment
import org.apache.spark.sql.catalyst.FunctionIdentifier
import org.apache.spark.sql.catalyst.analysis.TypeCheckResult
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.codegen.{CodegenContext, ExprCode}
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String

/** SQL function `keyfold_flink_key_group(key, max_parallelism)`: the key group, an INT, that Apache
  * Flink assigns to a key ([[io.keyfold.group.FlinkAssignment]]); null if an argument is null.
  *
  * Keys are STRING, BOOLEAN or integers, whose Java `hashCode` is the same in every program;
  * another column type is an analysis error.
  */
final case class FlinkKeyGroup(left: Expression, right: Expression) extends BinaryExpression {
  override def nullIntolerant: Boolean = true
  override def prettyName: String = FlinkKeyGroup.Name
  override def dataType: DataType = IntegerType
  override def checkInputDataTypes(): TypeCheckResult = (left.dataType, right.dataType) match {
    case (
          _: StringType | BooleanType | ByteType | ShortType | IntegerType | LongType,
          IntegerType
        ) =>
      TypeCheckResult.TypeCheckSuccess
    case (key, max) =>
      TypeCheckResult.TypeCheckFailure(
        s"$prettyName expects a STRING, BOOLEAN or integer and an INT, not ${key.sql} and " +
          s"${max.sql}"
      )
  }

  override protected def nullSafeEval(key: Any, maxParallelism: Any): Any =
    FlinkKeyGroup.of(key, maxParallelism.asInstanceOf[Int])

  override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode =
    defineCodeGen(ctx, ev, (key, max) => s"${classOf[FlinkKeyGroup].getName}.of($key, $max)")

  override protected def withNewChildrenInternal(
      newLeft: Expression,
      newRight: Expression
  ): FlinkKeyGroup = copy(left = newLeft, right = newRight)
}

object FlinkKeyGroup {
  val Name = "keyfold_flink_key_group"

  /** For `SparkSessionExtensions.injectFunction`. */
  val description: (FunctionIdentifier, ExpressionInfo, Seq[Expression] => Expression) = (
    FunctionIdentifier(Name),
    new ExpressionInfo(classOf[FlinkKeyGroup].getName, Name),
    arguments => {
      require(arguments.size == 2, s"$Name expects a key and the max parallelism")
      FlinkKeyGroup(arguments.head, arguments.last)
    }
  )

  /** Also called by generated code. */
  def of(key: Any, maxParallelism: Int): Int = {
    val hash = key match {
      case text: UTF8String => text.toString.hashCode
      case other            => other.hashCode
    }
    FlinkAssignment.keyGroup(hash, maxParallelism)
  }
}

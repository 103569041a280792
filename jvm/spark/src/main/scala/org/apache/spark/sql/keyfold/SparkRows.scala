package org.apache.spark.sql.keyfold

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.analysis.UnresolvedAttribute
import org.apache.spark.sql.catalyst.expressions.{Alias, Cast, Expression, UnsafeRow}
import org.apache.spark.sql.catalyst.optimizer.NormalizeFloatingNumbers
import org.apache.spark.sql.catalyst.parser.CatalystSqlParser
import org.apache.spark.sql.catalyst.plans.logical.Project
import org.apache.spark.sql.catalyst.{CatalystTypeConverters, InternalRow}
import org.apache.spark.sql.classic
import org.apache.spark.sql.types.{DataType, StructType}
import org.apache.spark.sql.{DataFrame, Row, SparkSession}

/** A user's rows in Spark's own form, and back. */
object SparkRows {

  /** Rows with these columns and types, cast as an INSERT casts them. Columns are found by name,
    * and fields in a column by position. All may be null.
    *
    * @return
    *   Left with the name of a column that an INSERT would refuse for its type
    */
  def fitted(rows: DataFrame, columns: StructType): Either[String, DataFrame] = {
    val frame = rows.asInstanceOf[classic.Dataset[Row]]
    val plan = frame.queryExecution.analyzed
    val wanted = columns.asNullable.map(it => plan.output.find(_.name == it.name).get -> it)
    wanted.find { case (its, it) => !Cast.canANSIStoreAssign(its.dataType, it.dataType) } match {
      case Some((_, refused)) => Left(refused.name)
      case None               =>
        val zone = Some(frame.sparkSession.sessionState.conf.sessionLocalTimeZone)
        val cast = wanted.map { case (its, it) =>
          Alias(Cast(its, it.dataType, zone, ansiEnabled = true), it.name)()
        }
        Right(classic.Dataset.ofRows(frame.sparkSession, Project(cast, plan)))
    }
  }

  /** The same type, of which each field may be null. */
  def nullable(of: DataType): DataType = of.asNullable

  /** Whether an INSERT would cast values of a type to another. */
  def canStore(from: DataType, to: DataType): Boolean = Cast.canANSIStoreAssign(from, to)

  /** Whether no two values of a type become one when they are cast to another. */
  def isWider(from: DataType, to: DataType): Boolean = Cast.canUpCast(from, to)

  /** The columns that an expression of SQL is computed from, as they are written, and whether it is
    * one of them.
    *
    * @throws org.apache.spark.sql.AnalysisException
    *   if it is no expression
    */
  def columnsOf(sql: String): (Seq[String], Boolean) = {
    val parsed = CatalystSqlParser.parseExpression(sql)
    val columns = parsed.collect { case it: UnresolvedAttribute => it.nameParts.mkString(".") }
    columns -> parsed.isInstanceOf[UnresolvedAttribute]
  }

  /** Rows in Spark's own form as a frame. */
  def frame(session: SparkSession, rows: RDD[InternalRow], columns: StructType): DataFrame =
    session.asInstanceOf[classic.SparkSession].internalCreateDataFrame(rows, columns)

  /** The rows of a frame of a classic session. */
  def of(frame: DataFrame): RDD[InternalRow] =
    frame.asInstanceOf[classic.Dataset[Row]].queryExecution.toRdd

  /** A value as Spark has it in a grouping key: one zero, and one NaN. */
  def normalized(value: Expression): Expression = NormalizeFloatingNumbers.normalize(value)

  /** A row as JSON, for messages. */
  def json(row: UnsafeRow, schema: StructType): String =
    CatalystTypeConverters.createToScalaConverter(schema)(row).asInstanceOf[Row].json
}

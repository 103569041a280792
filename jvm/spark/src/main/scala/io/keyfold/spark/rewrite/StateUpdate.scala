package io.keyfold.spark.rewrite

import scala.util.control.NonFatal

import io.keyfold.errors.Invalid
import io.keyfold.format.Footer
import io.keyfold.model.{PartitionRule, StoreLocation}
import io.keyfold.spark.checkpoint.CheckpointTools
import io.keyfold.store.file.LineageReader
import org.apache.spark.{Partitioner, SparkThrowable}
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.execution.streaming.state.OperatorStateMetadata
import org.apache.spark.sql.keyfold.SparkRows
import org.apache.spark.sql.types.{StructField, StructType}

/** Writes the state of the batch after a committed one: the same, with rows of one table changed. A
  * task for each partition, which opens its store if it has rows to change. Changes no log and no
  * existing file; needs checkpoint format v2.
  *
  * @param of
  *   the committed batch
  */
final class StateUpdate private[spark] (
    tools: CheckpointTools,
    of: Long,
    operator: Long,
    table: String
) {
  import StateUpdate._
  import tools.{logs, session}

  private val stores = new OperatorStores(session, logs, of)
  private val operators = logs.metadata(of)
  private val metadata = operators.find(_.operatorInfo.operatorId == operator)
  private lazy val store = metadata.toSeq.flatMap(stores.of).head
  private lazy val family = store.families.find(_.name == table)
  private lazy val placed = footer.families.find(_.spec.name == table).map(_.spec)

  /** Why rows of the table cannot be written one by one; none if they can. Reads one footer. */
  def refusals: Seq[String] = metadata match {
    case None     => Seq(s"It has no stateful operator $operator.")
    case Some(it) =>
      val name = it.operatorInfo.operatorName
      (unsupported(it) ++ (if (unsupported(it).isEmpty) misplaced else None)).toSeq.map { why =>
        s"Rows of table $table of operator $operator ($name) cannot be written: $why."
      }
  }

  private def unsupported(operator: OperatorStateMetadata): Option[String] =
    OperatorStores.variables(operator) match {
      case _ if stores.of(operator).length > 1 =>
        Some("a row of a join is in several stores, which count and index each other's rows")
      case None if family.isEmpty                 => Some("it has no such table")
      case None if family.exists(_.hasOldTimeout) =>
        Some(
          "in state format 1 of mapGroupsWithState its schema does not have the time of a timeout"
        )
      case None                                                           => None
      case Some(all) if all.exists(_.stateName.startsWith("subtask_of_")) =>
        Some("they are of subtasks, which `keyfold rescale --operator` changes as a whole")
      case Some(all) =>
        all.find(_.stateName == table) match {
          case None =>
            Some(s"it has no such state variable; there are ${all.map(_.stateName).mkString(", ")}")
          case Some(it) if it.ttlEnabled => Some("its rows expire, and an index has when")
          case Some(_) if family.exists(_.multiValue) =>
            Some("it is a list, whose values Spark counts")
          case Some(_) if family.isEmpty || table.startsWith("$") => Some("it is Spark's own")
          case _                                                  => None
        }
    }

  private def misplaced: Option[String] = placed match {
    case None => Some("its files do not have the table: let the query run one batch first")
    case Some(spec) if spec.strays || spec.partitionKey == PartitionRule.NoRule =>
      Some("the partition of a row cannot be computed from its key")
    case _ => None
  }

  /** Of partition 0. */
  private def footer: Footer = {
    val location = StoreLocation(operator, 0, store.name)
    new LineageReader(tools.blobs, location)
      .head(store.versionOf(0).written)
      .footer
  }

  private lazy val writable = new WritableTable(
    table,
    family.get.schema,
    family.get.isMap && metadata.exists(OperatorStores.variables(_).nonEmpty),
    placed.get.partitionKey,
    partitionsOf(store).length
  )

  /** Brings rows to the table's columns.
    *
    * @throws io.keyfold.errors.Invalid
    *   if they have other columns or types
    */
  private def fitted(rows: DataFrame, isDelete: Boolean): DataFrame = {
    val wanted = if (isDelete) writable.keyColumns else writable.columns
    // A whole row names the one to delete, and rows that were read tell their partition.
    val others = writable.columns.fieldNames :+ "partition_id"
    for (name <- wanted.fieldNames.diff(rows.columns).headOption)
      throw refused(s"the rows have no column $name")
    for (name <- rows.columns.diff(wanted.fieldNames).diff(others).headOption)
      throw refused(s"the table has no column $name")
    for (it <- wanted if fields(rows.schema(it.name)) != fields(it))
      throw refused(
        s"column ${it.name} has the fields ${fields(rows.schema(it.name)).mkString(", ")}"
      )
    SparkRows.fitted(rows, wanted) match {
      case Right(it)  => it
      case Left(name) =>
        throw refused(s"column $name is a ${rows.schema(name).dataType.sql}, which has other types")
    }
  }

  private def refused(why: String, cause: Throwable = null) = new Invalid(
    "KEYFOLD_WRITE_ROWS",
    s"Cannot write table $table of operator $operator: ${why.stripSuffix(".")}. Its columns are " +
      s"(${writable.columns.toDDL}). Nothing was changed.",
    cause
  )

  /** @throws io.keyfold.errors.Invalid
    *   if rows have other columns or types than the table
    */
  private[spark] def require(put: Option[DataFrame], delete: Option[DataFrame]): Unit = {
    put.foreach(fitted(_, isDelete = false))
    delete.foreach(fitted(_, isDelete = true))
  }

  /** @param put
    *   rows to put in place of those of the same keys
    * @param delete
    *   keys of rows to delete
    * @param replaces
    *   whether all other rows of the table are deleted
    * @throws io.keyfold.errors.Invalid
    *   if rows do not fit the table
    */
  def write(put: Option[DataFrame], delete: Option[DataFrame], replaces: Boolean): Updated = {
    val changes = put.map(fitted(_, isDelete = false) -> false) ++
      delete.map(fitted(_, isDelete = true) -> true)
    val written = changed(changes.toSeq, replaces)
    val ids = for (it <- operators) yield {
      val id = it.operatorInfo.operatorId
      val ofStores =
        if (id == operator) Seq(written.map(_.id))
        else stores.of(it).map(other => partitionsOf(other).map(other.versionOf(_).unchanged.id))
      id -> ofStores.transpose.map(_.toArray).toArray
    }
    Updated(ids.toMap, written.map(_.put).sum, written.map(_.deleted).sum)
  }

  private def changed(rows: Seq[(DataFrame, Boolean)], replaces: Boolean) = {
    val table = writable
    val update = new StoreUpdate(store, table, replaces)
    val none: RDD[(Int, RowChange)] = session.sparkContext.emptyRDD
    try
      rows
        .map { case (frame, isDelete) =>
          SparkRows.of(frame).mapPartitions(table.changes(_, isDelete))
        }
        .foldLeft(none)(_ union _)
        .partitionBy(new ByNumber(partitionsOf(store).length))
        .mapPartitionsWithIndex((partition, it) => Iterator(update.write(partition, it.map(_._2))))
        .collect()
        .toSeq
    catch { case NonFatal(e) => throw ofRows(e).getOrElse(e) }
  }

  /** An error, if it is about the rows that are given. */
  private def ofRows(e: Throwable): Option[Throwable] =
    Iterator.iterate(e)(_.getCause).takeWhile(_ != null).collectFirst {
      case it: Invalid                        => it
      case it: SparkThrowable if isOfData(it) =>
        refused(it.getMessage.linesIterator.mkString(" "), e)
    }

  /** None of an operator that has no state yet. */
  private def partitionsOf(of: StoreOfOperator) = of.ids.toSeq.flatMap(_.indices)
}

object StateUpdate {

  /** What was written.
    *
    * @param ids
    *   of the new versions, by operator, partition and store
    * @param put
    *   rows
    * @param deleted
    *   rows that were there
    */
  final case class Updated(ids: Map[Long, Array[Array[String]]], put: Long, deleted: Long)

  private final class ByNumber(override val numPartitions: Int) extends Partitioner {
    override def getPartition(number: Any): Int = number.asInstanceOf[Int]
  }

  /** Whether a value is null, out of range and the like, by the SQL standard's classes of errors.
    */
  private def isOfData(e: SparkThrowable) =
    e.getCondition == "NOT_NULL_ASSERT_VIOLATION" || Option(e.getSqlState).exists(
      _.startsWith("22")
    )

  /** Names of the fields of a column, with those inside them behind a dot, in their order. */
  private def fields(of: StructField): Seq[String] = of.dataType match {
    case struct: StructType =>
      struct.flatMap(it => it.name +: fields(it).map(inner => s"${it.name}.$inner"))
    case _ => Nil
  }
}

package io.keyfold.spark.rewrite

import scala.util.control.NonFatal

import io.keyfold.errors.Invalid
import io.keyfold.model.{FamilySpec, PartitionRule, StoreLocation}
import io.keyfold.spark.checkpoint.{CheckpointLogs, CheckpointTools}
import io.keyfold.store.file.LineageReader
import org.apache.spark.{Partitioner, SparkThrowable}
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.execution.streaming.state.OperatorStateMetadata
import org.apache.spark.sql.keyfold.{SparkRows, SparkShim}
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
  private val metadata = logs.metadata(of).find(_.operatorInfo.operatorId == operator)
  private lazy val store = metadata.toSeq.flatMap(stores.of).head
  private lazy val family = store.families.find(_.name == table)
  private lazy val variable =
    metadata.flatMap(OperatorStores.variables).flatMap(_.find(_.stateName == table))

  /** The table's family in the files of each partition. */
  private lazy val placed: Seq[Option[FamilySpec]] =
    tools.parallel(partitions) { partition =>
      val files = new LineageReader(tools.blobs, StoreLocation(operator, partition, store.name))
      val footer = files.head(store.versionOf(partition).written).footer
      footer.families.map(_.spec).find(_.name == table)
    }

  /** None of an operator that has no state yet. */
  private def partitions = store.ids.toSeq.flatMap(_.indices)

  /** Why rows of the table cannot be written one by one; none if they can. Reads a footer of each
    * partition.
    */
  def refusals: Seq[String] = {
    // Refuses metadata of an attempt that failed.
    logs.operators(of)
    metadata match {
      case None     => Seq(s"It has no stateful operator $operator.")
      case Some(it) =>
        unsupported(it).orElse(misplaced).toSeq.map { why =>
          s"Rows of table $table of operator $operator (${it.operatorInfo.operatorName}) cannot be " +
            s"written: $why."
        }
    }
  }

  private def unsupported(it: OperatorStateMetadata): Option[String] =
    OperatorStores.variables(it) match {
      case _ if it.operatorInfo.operatorName == "symmetricHashJoin" =>
        Some("a row of a join is in several tables, which count and index each other's rows")
      case None if family.isEmpty                 => Some("it has no such table")
      case None if family.exists(_.hasOldTimeout) =>
        Some("state format 1 of mapGroupsWithState has no schema of the time of a timeout")
      case Some(all) if all.exists(_.stateName.startsWith("subtask_of_")) =>
        Some("they are of subtasks, which `keyfold rescale --operator` changes as a whole")
      case Some(all) if variable.isEmpty || family.isEmpty =>
        Some(s"it has no such state variable; there are ${all.map(_.stateName).mkString(", ")}")
      case _ if variable.exists(_.ttlEnabled) => Some("its rows expire, and an index has when")
      case _ if family.exists(_.multiValue)   => Some("it is a list, whose values Spark counts")
      case _                                  => None
    }

  private def misplaced: Option[String] = {
    val rules = placed.flatten.map(_.partitionKey).distinct
    if (rules.isEmpty || placed.exists(_.isEmpty))
      Some("not all its files have the table: let the query run one batch first")
    else if (logs.isBuiltIn(of - 1) && logs.isOwn(of))
      Some("after a migration the query must run one batch, which says how it partitions its input")
    else
      Option.when(
        rules.length > 1 || rules.contains(PartitionRule.NoRule) || placed.flatten
          .exists(_.strays) ||
          !logs.settings(of).exists(_.get(CheckpointLogs.StrictKey).contains("true"))
      )("the partition of a row cannot be computed from its key")
  }

  /** Names of operators whose keys Spark normalizes. */
  private def normalizing = Set("stateStoreSave", "sessionWindowStateStoreSaveExec") ++
    (if (SparkShim.normalizesDuplicates) Set("dedupe", "dedupeWithinWatermark") else Nil)

  private lazy val writable = new WritableTable(
    table,
    family.get.schema,
    variable.exists(_.stateVariableType == SparkShim.StateVariableType.MapState),
    metadata.exists(it => normalizing(it.operatorInfo.operatorName)),
    placed.head.get.partitionKey,
    partitions.length
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
    val ids = logs.unchangedIds(of).get.updated(operator, written.map(it => Array(it.id)).toArray)
    Updated(ids, written.map(_.put).sum, written.map(_.deleted).sum)
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
        .partitionBy(new ByNumber(partitions.length))
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

package io.keyfold.spark.rewrite

import scala.util.control.NonFatal

import io.keyfold.errors.Invalid
import io.keyfold.format.PlanName
import io.keyfold.spark.checkpoint.CheckpointTools
import org.apache.spark.{Partitioner, SparkThrowable}
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.keyfold.SparkRows
import org.apache.spark.sql.types.{ArrayType, DataType, MapType, StructField, StructType}

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

  private val chosen = new StateTable(tools, of, operator, table, logs.metadata(of))
  private lazy val writable = chosen.writable

  /** Why rows of the table cannot be written one by one; none if they can. Reads a footer of each
    * partition.
    */
  def refusals: Seq[String] = chosen.refusals

  /** What to know before rows are written. */
  def warnings: Seq[String] = chosen.warnings

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
    for (name <- rows.columns.filterNot((wanted.fieldNames ++ others).contains).headOption)
      throw refused(s"the table has no column $name")
    for (name <- rows.columns.diff(rows.columns.distinct).headOption)
      throw refused(s"the rows have two columns $name")
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
    val changes = (put.map(fitted(_, isDelete = false) -> false) ++
      delete.map(fitted(_, isDelete = true) -> true)).toSeq
    val isWhole = delete.isEmpty && (replaces || chosen.isEmpty)
    val emptied = isWhole && chosen.isAlone && isSettled
    def update(counts: Boolean) =
      changed(changes, new StoreUpdate(chosen.toWrite, writable, replaces, emptied, counts))
    val counted = if (emptied && writable.isPlain) update(counts = true) else Nil
    val isDone = counted.nonEmpty && counted.forall(_.nonEmpty)
    val written = (if (isDone) counted else update(counts = false)).flatten
    val unchanged = logs.unchangedIds(of).get
    val ids = unchanged(operator).zip(written).map { case (ofPartition, it) =>
      chosen.toWrite.zip(it.ids).foldLeft(ofPartition) { case (all, (store, id)) =>
        all.updated(chosen.stores.indexOf(store), id)
      }
    }
    Updated(unchanged.updated(operator, ids), written.map(_.put).sum, written.map(_.deleted).sum)
  }

  private def changed(rows: Seq[(DataFrame, Boolean)], update: StoreUpdate) =
    try
      dealt(rows)
        .mapPartitionsWithIndex((partition, it) => Iterator(update.write(partition, it.map(_._2))))
        .collect()
        .toSeq
    catch { case NonFatal(e) => throw ofRows(e).getOrElse(e) }

  /** Whether no files from before a rescale wait to be deleted: by the lineages of later versions
    * it is known that it took place.
    */
  private def isSettled = tools.blobs.list(PlanName.Folder).flatMap(PlanName.ofFile).isEmpty

  /** Changes in the partitions of their rows, those of a list in the order of the frame. */
  private def dealt(rows: Seq[(DataFrame, Boolean)]) = {
    val table = writable
    val changes = session.sparkContext.union(rows.map { case (frame, isDelete) =>
      SparkRows.of(frame).mapPartitionsWithIndex { (from, its) =>
        val start = from.toLong << 32
        table.changes(its, isDelete).zipWithIndex.map { case ((partition, block), nth) =>
          (partition, start + nth) -> block
        }
      }
    })
    val byPartition = new ByPartition(chosen.partitions.length)
    if (table.shape.isList) changes.repartitionAndSortWithinPartitions(byPartition)
    else changes.partitionBy(byPartition)
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

  /** Of keys that are the partition and the place among all rows. */
  private final class ByPartition(override val numPartitions: Int) extends Partitioner {
    override def getPartition(key: Any): Int = key.asInstanceOf[(Int, Long)]._1
  }

  /** Whether a value is null, out of range and the like, by the SQL standard's classes of errors.
    */
  private def isOfData(e: SparkThrowable) =
    e.getCondition == "NOT_NULL_ASSERT_VIOLATION" || Option(e.getSqlState).exists(
      _.startsWith("22")
    )

  private def fields(of: StructField): Seq[String] = fieldsOf(of.dataType)

  /** Names of the fields of a type, with those inside them behind a dot, in their order. */
  private[spark] def fieldsOf(of: DataType): Seq[String] = of match {
    case struct: StructType =>
      struct.flatMap(it => it.name +: fields(it).map(inner => s"${it.name}.$inner"))
    case array: ArrayType => fieldsOf(array.elementType)
    case map: MapType     => fieldsOf(map.keyType) ++ fieldsOf(map.valueType)
    case _                => Nil
  }
}

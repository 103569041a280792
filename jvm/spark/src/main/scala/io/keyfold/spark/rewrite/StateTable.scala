package io.keyfold.spark.rewrite

import io.keyfold.model.{Family, FamilySpec, PartitionRule, StoreLocation}
import io.keyfold.spark.checkpoint.{CheckpointLogs, CheckpointTools}
import io.keyfold.store.file.LineageReader
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{JoinedRow, UnsafeProjection}
import org.apache.spark.sql.execution.streaming.state.{OperatorStateMetadata, StateStore}
import org.apache.spark.sql.keyfold.{SparkRows, SparkShim}
import org.apache.spark.sql.types.{StructField, StructType}

/** A table of an operator's state after a committed batch: which family of which store has its
  * rows, and whether they can be read and written.
  *
  * @param of
  *   the batch
  * @param operator
  *   its number in the query
  * @param name
  *   of the table: that of the column family that has the rows, `left` or `right` of a join, or
  *   `timers`
  * @param operators
  *   what Spark says of the batch's operators
  */
private[spark] final class StateTable private[rewrite] (
    tools: CheckpointTools,
    of: Long,
    val operator: Long,
    val name: String,
    operators: Seq[OperatorStateMetadata]
) {
  import tools.{logs, session}

  private val metadata = operators.find(_.operatorInfo.operatorId == operator)

  /** Empty if the query has no such operator. */
  def operatorName: String = metadata.fold("")(_.operatorInfo.operatorName)

  /** In the order in which the commit log has their ids. */
  private[rewrite] lazy val stores: Seq[StoreOfOperator] = metadata.toSeq.flatMap(
    new OperatorStores(session, logs, of).of
  )
  private lazy val variables = metadata.flatMap(OperatorStores.variables)

  /** The store and family that have the table's rows. */
  private lazy val source: Option[(StoreOfOperator, StoredFamily)] = {
    val its =
      if (isJoin) s"$name-keyWithIndexToValue"
      else if (isTimers) timers.fold("")(_.stateName)
      else name
    val families = for (store <- stores; family <- store.families) yield store -> family
    families.find { case (store, family) => store.nameOf(family) == its }
  }
  private def isJoin = metadata.exists(StateTable.isJoin)
  private def variable = variables.flatMap(_.find(_.stateName == name))
  private def isTimers = name == StateTable.Timers && variable.isEmpty
  private def timers =
    variables.flatMap(_.find(_.stateVariableType == SparkShim.StateVariableType.TimerState))

  /** The families of its store in the files of each partition. */
  private lazy val inFiles: Seq[Seq[Family]] =
    tools.parallel(partitions) { partition =>
      val (store, _) = source.get
      val files = new LineageReader(tools.blobs, StoreLocation(operator, partition, store.name))
      files.head(store.versionOf(partition).written).footer.families
    }
  private def placed: Seq[Option[FamilySpec]] = inFiles.map(_.map(_.spec).find(isIts))
  private def isIts(spec: FamilySpec) = spec.name == family

  /** Whether the table has no row, as its files say; after a rescale they do not say it. */
  def isEmpty: Boolean = inFiles.forall(_.forall(it => !isIts(it.spec) || it.keys == 0))

  /** Whether no other family of its store has a row, as the files say: they have also variables
    * that the last run of the query did not declare.
    */
  def isAlone: Boolean = inFiles.forall(_.forall(it => isIts(it.spec) || it.keys == 0))

  /** None of an operator that has no state yet. */
  def partitions: Seq[Int] = stores.headOption.flatMap(_.ids).toSeq.flatMap(_.indices)

  /** Why rows of the table cannot be written one by one; none if they can. Reads a footer of each
    * partition.
    */
  def refusals: Seq[String] = {
    // Refuses metadata of an attempt that failed.
    logs.operators(of)
    metadata match {
      case None     => Seq(s"It has no stateful operator $operator.")
      case Some(it) =>
        unsupported.orElse(misplaced).toSeq.map { why =>
          s"Rows of table $name of operator $operator (${it.operatorInfo.operatorName}) cannot be " +
            s"written: $why."
        }
    }
  }

  /** Why there is no such table that a user can read or write. */
  private def unsupported: Option[String] = variables match {
    case None if source.isEmpty && isJoin =>
      Some("of a join the tables left and right are written, if its state format is not 4")
    case None if source.isEmpty                    => Some("it has no such table")
    case None if source.exists(_._2.hasOldTimeout) =>
      Some("state format 1 of mapGroupsWithState has no schema of the time of a timeout")
    case Some(all) if all.exists(_.stateName.startsWith("subtask_of_")) =>
      Some("they are of subtasks, which `keyfold rescale --operator` changes as a whole")
    case Some(all) if source.isEmpty || !(isTimers || variable.nonEmpty) =>
      val known = all.map(it => if (timers.contains(it)) StateTable.Timers else it.stateName)
      Some(s"it has no such state variable; there are ${known.mkString(", ")}")
    case _ => None
  }

  /** Why it cannot be read or written; it has no columns then. */
  lazy val refusal: Option[String] =
    try unsupported
    catch {
      case e: OperatorStores.UnreadableSchema =>
        Some(s"the schema of its state cannot be read (${e.getCause.getMessage})")
    }

  /** What to know before rows are written. */
  def warnings: Seq[String] =
    if (timers.isEmpty || isTimers) Nil
    else Seq(s"timers stay as they are: they are the table ${StateTable.Timers}")

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
  private def normalizing =
    Set("stateStoreSave", "sessionWindowStateStoreSaveExec", "symmetricHashJoin") ++
      (if (SparkShim.normalizesDuplicates) Set("dedupe", "dedupeWithinWatermark") else Nil)

  /** Name of the column family that has its rows. */
  def family: String = source.get._2.name

  /** As `write_state` takes them; the fields of one may have the same name. */
  lazy val columns: StructType =
    if (refusal.isEmpty) TableColumn.schema(columnsOf(source.get._2)) else new StructType

  private def columnsOf(family: StoredFamily) = {
    val (keys, values) = (family.schema.keySchema, family.schema.valueSchema)
    shape.keyColumns(keys) ++ shape.valueColumns(values, keys.length)
  }

  /** The same columns, in which each name is there once. */
  lazy val named: StructType = StructType(columns.map {
    case it @ StructField(_, struct: StructType, _, _) => it.copy(dataType = unique(struct))
    case it                                            => it
  })

  private def unique(struct: StructType) = StructType(struct.zipWithIndex.map { case (it, i) =>
    val before = struct.take(i).count(_.name == it.name)
    if (before == 0) it else it.copy(name = s"${it.name}_${before + 1}")
  })

  /** All rows, with the columns [[named]]. Those of a list are in their order; a task reads a
    * partition.
    */
  def rows: DataFrame = {
    val (store, family) = source.get
    val its = if (partitions.nonEmpty) partitions else folders
    val all = columnsOf(family)
    val read = session.sparkContext.parallelize(its, math.max(its.length, 1)).flatMap { partition =>
      val values = UnsafeProjection.create(all.map(_.value))
      val pair = new JoinedRow
      store.rows(partition, family).map(it => values(pair(it.key, it.value)): InternalRow)
    }
    val frame = SparkRows.frame(session, read, columns)
    frame.select(named.toSeq.map(it => frame.col(it.name).cast(it.dataType).as(it.name)): _*)
  }

  /** A rescale leaves those of partitions that the batch does not have. */
  private def folders =
    logs.partitionFolders(operator).filter(it => logs.partitions(of).forall(it < _))

  /** The table, if nothing speaks against it. */
  private[rewrite] lazy val writable: WritableTable = {
    val (store, family) = source.get
    new WritableTable(
      name,
      store.nameOf(family),
      family.schema,
      shape,
      variable.exists(_.ttlEnabled),
      metadata.exists(it => normalizing(it.operatorInfo.operatorName)),
      placed.head.get.partitionKey,
      partitions.length
    )
  }

  private def shape: TableShape = {
    val types = SparkShim.StateVariableType
    variable.map(_.stateVariableType) match {
      case _ if isJoin           => TableShape.Side
      case _ if isTimers         => TableShape.Timers
      case Some(types.ListState) => TableShape.Elements
      case Some(types.MapState)  => TableShape.Entries
      case _                     => TableShape.Rows
    }
  }

  /** The stores that have the table: two of a side of a join that has a store for each family. */
  private[rewrite] lazy val toWrite: Seq[StoreOfOperator] = {
    val others = if (isJoin) Seq(TableWriter.countsOf(writable.family)) else Nil
    stores.filter(it => it == source.get._1 || others.contains(it.name))
  }
}

private[spark] object StateTable {

  /** The table of transformWithState's timers. */
  private val Timers = "timers"

  /** The tables of all operators after a committed batch, of any provider.
    *
    * @param operators
    *   what Spark says of the batch's operators
    */
  def all(
      tools: CheckpointTools,
      batch: Long,
      operators: Seq[OperatorStateMetadata]
  ): Seq[StateTable] =
    for (operator <- operators; name <- names(operator))
      yield new StateTable(tools, batch, operator.operatorInfo.operatorId, name, operators)

  private def names(of: OperatorStateMetadata): Seq[String] = OperatorStores.variables(of) match {
    case Some(variables) =>
      val (timers, others) =
        variables.partition(_.stateVariableType == SparkShim.StateVariableType.TimerState)
      others.map(_.stateName) ++ timers.take(1).map(_ => Timers)
    case None if isJoin(of) => Seq("left", "right")
    case None               => Seq(StateStore.DEFAULT_COL_FAMILY_NAME)
  }

  private def isJoin(of: OperatorStateMetadata) =
    of.operatorInfo.operatorName == "symmetricHashJoin"
}

package org.apache.spark.sql.keyfold

import java.io.{ByteArrayInputStream, FileNotFoundException, UncheckedIOException}
import java.nio.charset.CharacterCodingException
import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.InvalidPathException
import java.util.UUID

import scala.io.Source
import scala.util.Using
import scala.util.control.NonFatal

import com.fasterxml.jackson.core.JsonProcessingException
import io.keyfold.errors.{Invalid, MissingFile, StoreError}
import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.execution.streaming.state._
import org.apache.spark.sql.internal.SQLConf

/** The batches and operators of a query, read from and written to the checkpoint by Spark's own
  * classes.
  */
final class CheckpointLogs(session: SparkSession, checkpoint: String) {
  import CheckpointLogs._

  val hadoopConf: Configuration = session.sessionState.newHadoopConf()

  /** The checkpoint's folder, with scheme; in the form of a `Path`, which does not encode special
    * characters of URIs.
    */
  val location: String = {
    val path = new Path(checkpoint)
    path.getFileSystem(hadoopConf).makeQualified(path).toString
  }

  private val logs = new QueryLogs(session, location)
  private[keyfold] val state = new Path(location, "state")

  /** Newest batch in the offset log. */
  def lastBegun: Option[Long] = logs.offsets.flatMap(_.getLatestBatchId())

  /** Newest batch that was committed. */
  def lastCommitted: Option[Long] = logs.commits.flatMap(_.getLatestBatchId())

  /** Newest batch that was begun, even if the offset log lacks it. */
  def lastStarted: Option[Long] = (lastBegun ++ lastCommitted).maxOption

  /** Settings that a batch ran with; None if the log has no such batch. */
  def settings(batch: Long): Option[Map[String, String]] =
    offsets(batch).map(SparkShim.metadata(_).fold(Map.empty[String, String])(_.conf))

  /** Whether a query with this last batch could start: Spark also reads the offsets of the batch
    * before it, which are deleted for the oldest batch in the log.
    */
  def canStartAfter(batch: Long): Boolean = batch == 0 || offsets(batch - 1).nonEmpty

  private[keyfold] def offsetMetadata(batch: Long): SparkShim.OffsetMetadata =
    stillThere(s"$location/offsets/$batch", offsets(batch).flatMap(SparkShim.metadata))

  /** Class name of the state store provider that a batch ran with. */
  def providerOf(batch: Long): Option[String] = settings(batch).flatMap(_.get(ProviderKey))

  /** The batches in the commit log, ascending. */
  def committedBatches: Seq[Long] = numbers(new Path(location, "commits"))

  /** Number of partitions of a batch. */
  def partitions(batch: Long): Option[Int] =
    settings(batch).flatMap(_.get(PartitionsKey)).flatMap(_.toIntOption)

  /** Ids of the state after a batch, by operator, partition and store; None under checkpoint format
    * v1.
    */
  def ids(batch: Long): Option[Map[Long, Array[Array[String]]]] =
    committed(batch).flatMap(idsOf)

  /** The same of an entry's content. */
  def idsIn(entry: Array[Byte]): Option[Map[Long, Array[Array[String]]]] =
    idsOf(logs.commits.get.deserialize(new ByteArrayInputStream(entry)))

  private def idsOf(commit: SparkShim.CommitEntry) = commit.stateUniqueIds.filter(_.nonEmpty)

  /** Ids of one store's state, one for each partition.
    *
    * @param ids
    *   of all operators after the batch
    * @param store
    *   its index among the operator's stores
    * @throws io.keyfold.errors.Invalid
    *   if the commit log does not have them
    */
  def idsOfStore(
      batch: Long,
      ids: Option[Map[Long, Array[Array[String]]]],
      operator: Operator,
      store: Int
  ): Option[IndexedSeq[String]] =
    ids.map { all =>
      all.getOrElse(operator.id, Array.empty[Array[String]]).toIndexedSeq.map { ofPartition =>
        if (ofPartition.length != operator.stores.length) {
          throw new Invalid(
            "KEYFOLD_CHECKPOINT_DAMAGED",
            s"Cannot read batch $batch of $location: operator ${operator.id} has " +
              s"${operator.stores.length} stores, the commit log has ${ofPartition.length} ids of a " +
              "partition. Restore the commit log from a copy."
          )
        }
        ofPartition(store)
      }
    }

  /** The checkpoint format of a committed batch: 2 if its state has ids. An entry of the commit log
    * has a version of its own, which may be 3 under format 1 if it lists the query's sinks, and 2
    * without ids if the query had no state.
    *
    * @throws java.io.FileNotFoundException
    *   if the log does not have it
    */
  def formatOf(batch: Long): Int =
    if (ids(batch).nonEmpty || linesOf(batch).head.trim == "v2") 2 else 1

  /** Whether a batch is Keyfold's own, of a rescale or a migration: it has the input and the time
    * of the batch before, and another setting.
    */
  def isOwn(batch: Long): Boolean = {
    for {
      own <- offsets(batch); before <- offsets(batch - 1)
      settings <- settings(batch)
    } yield own != before && own == SparkShim.withSettings(before, settings)
  }.contains(true)

  /** Lines of a batch's entry in the commit log. */
  private def linesOf(batch: Long): Seq[String] = {
    val file = new Path(location, s"commits/$batch")
    val files = SparkShim.CheckpointFileManager.create(file.getParent, hadoopConf)
    Using.resource(files.open(file))(Source.fromInputStream(_, UTF_8.name).getLines().toList)
  }

  /** Whether any operator has state. */
  def hasState: Boolean = operatorFolders.nonEmpty

  /** Operators that have a folder, ascending. */
  private[keyfold] def operatorFolders: Seq[Long] = numbers(state)

  def hasCommitted(batch: Long): Boolean = committed(batch).nonEmpty

  /** Batches for which an operator has its own metadata, ascending; empty if its metadata have no
    * versions.
    */
  def operatorVersions(operator: Long): Seq[Long] =
    numbers(OperatorStateMetadataV2.metadataDirPath(new Path(state, operator.toString)))

  /** Partitions that an operator has or had. */
  def partitionFolders(operator: Long): Seq[Int] =
    numbers(new Path(state, operator.toString)).map(_.toInt)

  private def numbers(folder: Path): Seq[Long] =
    try
      SparkShim.CheckpointFileManager
        .create(folder, hadoopConf)
        .list(folder)
        .toSeq
        .flatMap(_.getPath.getName.toLongOption)
        .sorted
    catch { case _: FileNotFoundException => Nil }

  /** Id of the query; None if its file is not there, which Spark then writes.
    *
    * @throws io.keyfold.errors.Invalid
    *   if Spark cannot read it
    */
  def queryId: Option[UUID] = {
    val metadata = new Path(location, "metadata")
    understood(
      metadata,
      s" Or delete it, and set $VerifiesIdKey=false for the next start. $NewId"
    )(SparkShim.StreamMetadata.read(metadata, hadoopConf).map(it => UUID.fromString(it.id)))
  }

  /** Whether the query runs in this process. */
  def isRunningHere: Boolean =
    queryId.exists(session.sharedState.activeStreamingQueries.containsKey(_))

  /** Operators as of a batch.
    *
    * @throws io.keyfold.errors.Invalid
    *   if there is state that Spark's metadata do not list, and that would be passed over
    */
  def operators(batch: Long): Seq[Operator] = {
    val unlisted = new UnlistedStores(state, hadoopConf)
    for (found <- metadata(batch)) yield {
      val info = found.operatorInfo
      val stores = SparkShim.stores(found).map(_.storeName)
      val operator = Operator(info.operatorId, info.operatorName, stores)
      for (store <- unlisted.of(operator, batch + 1)) throw passedOver(operator, batch, store)
      operator
    }
  }

  private def passedOver(operator: Operator, batch: Long, store: String) = new Invalid(
    "KEYFOLD_CHECKPOINT_DAMAGED",
    s"Operator ${operator.id} of $location has state of batch $batch in the store '$store', and " +
      s"Spark's metadata say that it is a ${operator.name} with the stores " +
      s"${operator.stores.mkString(", ")}: they are those of an attempt that failed, with another " +
      s"query. Delete $state/${operator.id}/_metadata, which Spark writes again when the query " +
      "starts, and let it run one batch. Nothing was changed."
  )

  private[keyfold] def metadata(batch: Long): Seq[OperatorStateMetadata] =
    understood(new Path(state, "*/_metadata")) {
      SparkShim.operators(location, hadoopConf, batch)
    }

  private def offsets(batch: Long) =
    understood(
      new Path(location, s"offsets/$batch"),
      GoesOn
    )(logs.offsets.flatMap(_.get(batch)))

  private def committed(batch: Long) =
    understood(
      new Path(location, s"commits/$batch"),
      if (lastCommitted.contains(batch) && lastBegun.contains(batch))
        s"Or delete it instead: Spark then runs batch $batch again, and the sink gets its rows again."
      else GoesOn
    ) {
      val commit = logs.commits.flatMap(_.get(batch))
      // Spark takes an entry that was cut after its version for one without ids, as those of v1 are.
      if (commit.exists(_.stateUniqueIds.isEmpty)) {
        val lines = linesOf(batch)
        if (lines.length < 2 && lines.head.trim != "v1")
          throw new IllegalStateException("the entry ends after its version")
      }
      commit
    }

  /** What Spark reads from a file; its own errors rarely name the file.
    *
    * @param otherwise
    *   what helps without a copy of the file
    * @throws io.keyfold.errors.Invalid
    *   if Spark cannot understand it; errors of the storage are not changed
    */
  private def understood[T](file: Path, otherwise: => String = "")(read: => T): T =
    try read
    catch {
      case e @ (_: RuntimeException | _: JsonProcessingException | _: CharacterCodingException |
          _: FileNotFoundException) if !e.isInstanceOf[StoreError] && !isOfPlace(e) =>
        throw new Invalid(
          "KEYFOLD_CHECKPOINT_DAMAGED",
          s"Cannot understand $file: $e. It is a file of Spark's own; restore it from a copy. $otherwise".trim,
          e
        )
    }

  /** Whether it says that the machine cannot name or open the file, and nothing of its content. */
  private def isOfPlace(e: Throwable) = e match {
    case _: InvalidPathException | _: UncheckedIOException | _: SecurityException => true
    case _                                                                        => false
  }

  /** Begins a batch that reads no data, with the offsets and settings of batch `of`, and with
    * `settings` changed.
    *
    * @return
    *   false if it was already begun
    */
  def begin(batch: Long, of: Long, settings: Map[String, String]): Boolean = {
    val before = stillThere(s"$location/offsets/$of", offsets(of))
    val entry = SparkShim.withSettings(before, settings)
    added(fresh.offsets.get.add(batch, entry), fresh.offsets.get.get(batch).nonEmpty)
  }

  /** Commits a batch without changes since batch `of`, except for the ids.
    *
    * @return
    *   false if it was already committed
    * @throws io.keyfold.errors.MissingFile
    *   if a rollback has taken the batch away meanwhile; its entry is then removed
    */
  def commit(batch: Long, of: Long, ids: Option[Map[Long, Array[Array[String]]]]): Boolean = {
    val before = stillThere(s"$location/commits/$of", committed(of))
    val commit = ids.fold(before)(SparkShim.withIds(before, _))
    val isMine = added(fresh.commits.get.add(batch, commit), fresh.commits.get.get(batch).nonEmpty)
    val begun = fresh.offsets.flatMap(_.get(batch))
    // No query could start with a commit of a batch that has not begun.
    if (begun.isEmpty && isMine) {
      val file = new Path(location, s"commits/$batch")
      SparkShim.CheckpointFileManager.create(file.getParent, hadoopConf).delete(file)
    }
    stillThere(s"$location/offsets/$batch", begun)
    isMine
  }

  /** The logs without cached entries. */
  private def fresh = new QueryLogs(session, location)

  /** Spark reports a lost race in two ways. After any other failure the entry may exist. */
  private def added(add: => Boolean, isThere: => Boolean): Boolean =
    try add
    catch {
      case NonFatal(e) =>
        if (isThere) false else throw e
    }

  /** From a batch on, gives the operators whose metadata have versions a new number of partitions.
    * Replaces metadata of that batch from another try, which Spark's own writer would keep.
    */
  def rewriteOperators(batch: Long, of: Long, from: Int, to: Int): Unit =
    rescaledOperators(of, from, to).foreach { operator =>
      val folder = new Path(state, operator.operatorInfo.operatorId.toString)
      val file = OperatorStateMetadataV2.metadataFilePath(folder, batch)
      SparkShim.CheckpointFileManager.create(file.getParent, hadoopConf).delete(file)
      OperatorStateMetadataWriter
        .createWriter(folder, hadoopConf, operator.version, Some(batch))
        .write(operator)
    }

  /** The operators whose metadata have versions, with a new number of partitions. */
  private[keyfold] def rescaledOperators(
      of: Long,
      from: Int,
      to: Int
  ): Seq[OperatorStateMetadataV2] = metadata(of).collect { case operator: OperatorStateMetadataV2 =>
    operator.copy(stateStoreInfo = operator.stateStoreInfo.map { store =>
      // An operator in one task stays there. Another number than `from` is that of a driver that
      // has begun the batch and did not know of a rescale before it: Spark keeps what it wrote.
      if (store.numPartitions == 1 && from != 1) store else store.copy(numPartitions = to)
    })
  }

  /** Writes the metadata of the operators as of a batch into a copy of the checkpoint, if they have
    * versions: they contain absolute paths.
    *
    * @return
    *   the files written, relative to the copy
    */
  def copyOperators(batch: Long, to: String): Seq[String] = metadata(batch).collect {
    case operator: OperatorStateMetadataV2 =>
      val stores = operator.stateStoreInfo.map { store =>
        val files = store.stateSchemaFilePaths
        store.copy(stateSchemaFilePaths = files.map(file => new Path(to, inside(file)).toString))
      }
      val folder = s"${state.getName}/${operator.operatorInfo.operatorId}"
      OperatorStateMetadataWriter
        .createWriter(new Path(to, folder), hadoopConf, operator.version, Some(batch))
        .write(operator.copy(stateStoreInfo = stores))
      OperatorStateMetadataV2.metadataFilePath(new Path(folder), batch).toString
  }

  /** Schema files that the metadata of a batch's operators name, and that are not in the
    * checkpoint.
    */
  def lostSchemas(batch: Long): Seq[String] = {
    val files = SparkShim.CheckpointFileManager.create(state, hadoopConf)
    for {
      operator <- metadata(batch)
      store <- SparkShim.stores(operator).collect { case v2: StateStoreMetadataV2 => v2 }
      file <- store.stateSchemaFilePaths if !files.exists(new Path(location, inside(file)))
    } yield file
  }

  /** Path of a schema file relative to the checkpoint. What Spark has stored is absolute, and of
    * another folder if the checkpoint was moved, or is reached by a link.
    */
  private def inside(file: String): String =
    new Path(file).toUri.getPath.split('/').takeRight(5).mkString("/")

  /** Log of the file sink that writes to a folder; None if there is no such sink. */
  def fileSink(folder: String): Option[FileSink] = {
    val log = sinkLog(folder)
    Option.when(log.getFileSystem(hadoopConf).exists(log))(new FileSink(session, log))
  }

  /** The log of a file sink; made if there is none. */
  def newFileSink(folder: String): FileSink = new FileSink(session, sinkLog(folder))

  private def sinkLog(folder: String) = {
    val path = new Path(folder)
    val fileSystem = path.getFileSystem(hadoopConf)
    SparkShim.FileStreamSink.getMetadataLogPath(
      fileSystem,
      path.makeQualified(fileSystem.getUri, fileSystem.getWorkingDirectory),
      session.sessionState.conf
    )
  }

  /** Whether a command of Keyfold's has changed the checkpoint. */
  def wasChanged: Boolean = {
    val folder = new Path(location, "keyfold")
    folder.getFileSystem(hadoopConf).exists(folder)
  }
}

object CheckpointLogs {
  val PartitionsKey: String = SQLConf.SHUFFLE_PARTITIONS.key
  val ProviderKey: String = SQLConf.STATE_STORE_PROVIDER_CLASS.key
  val FormatKey: String = SQLConf.STATE_STORE_CHECKPOINT_FORMAT_VERSION.key
  val StrictKey: String = SQLConf.STATEFUL_OPERATOR_USE_STRICT_DISTRIBUTION.key

  /** Whether Spark, from 4.2 on, refuses a checkpoint that has batches and no id of its query. */
  val VerifiesIdKey: String = "spark.sql.streaming.checkpoint.verifyMetadataExists.enabled"

  /** What comes of a start without it. */
  val NewId: String =
    "Spark then writes a new id of the query. Sinks that go by the id, such as Delta Lake's, do not " +
      "know its batches any more."

  private val GoesOn = "`keyfold fsck` says how the query goes on without it."

  /** What a command has found there before.
    *
    * @throws io.keyfold.errors.MissingFile
    *   if another process has taken it away since
    */
  def stillThere[T](path: String, entry: Option[T]): T = entry.getOrElse {
    throw new MissingFile(
      path,
      "it was there when the command began. Another command, or the query, changes the checkpoint " +
        "at the same time: run the command again when that has ended."
    )
  }

  /** A stateful operator and its stores, in the order in which the commit log has their ids. */
  final case class Operator(id: Long, name: String, stores: Seq[String])

  /** Its logs, none of which need exist. */
  private final class QueryLogs(session: SparkSession, location: String) {
    lazy val offsets: Option[SparkShim.OffsetSeqLog] =
      SparkShim.offsetLog(session, new Path(location, "offsets"))
    lazy val commits: Option[SparkShim.CommitLog] =
      SparkShim.commitLog(session, new Path(location, "commits"))
  }
}

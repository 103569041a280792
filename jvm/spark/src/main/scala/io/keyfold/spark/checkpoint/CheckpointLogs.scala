package io.keyfold.spark.checkpoint

import java.io.{FileNotFoundException, UncheckedIOException}
import java.nio.charset.CharacterCodingException
import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.InvalidPathException
import java.util.UUID

import scala.util.control.NonFatal

import com.fasterxml.jackson.core.JsonProcessingException
import io.keyfold.errors.{Invalid, MissingFile, StoreError}
import io.keyfold.model.StoreLocation.DefaultStore
import io.keyfold.model.VersionId
import io.keyfold.spark.conf.ProviderClass
import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.execution.streaming.state._
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.keyfold.{QueryLogs, SparkPrivate, SparkShim}

/** The batches and operators of a query, read from and written to the checkpoint by Spark's own
  * classes.
  */
final class CheckpointLogs(session: SparkSession, checkpoint: String) {
  import CheckpointLogs._

  val hadoopConf: Configuration = session.sessionState.newHadoopConf()

  /** The checkpoint's files by path. */
  val files = new CheckpointFiles(checkpoint, hadoopConf)

  /** The checkpoint's folder, with scheme; in the form of a `Path`, which does not encode special
    * characters of URIs.
    */
  val location: String = files.location

  private[checkpoint] val queryLogs = new QueryLogs(session, location)
  val state = new Path(location, "state")

  /** Newest batch in the offset log. */
  def lastBegun: Option[Long] = queryLogs.offsets.flatMap(_.getLatestBatchId())

  /** Newest batch that was committed. */
  def lastCommitted: Option[Long] = queryLogs.commits.flatMap(_.getLatestBatchId())

  /** Newest batch that was begun, even if the offset log lacks it. */
  def lastInLogs: Option[Long] = (lastBegun ++ lastCommitted).maxOption

  /** Settings that a batch ran with; None if the log has no such batch. */
  def settings(batch: Long): Option[Map[String, String]] =
    offsets(batch).map(SparkShim.metadata(_).fold(Map.empty[String, String])(_.conf))

  /** Whether a query with this last batch could start: Spark also reads the offsets of the batch
    * before it, which are deleted for the oldest batch in the log.
    */
  def canStartAfter(batch: Long): Boolean = batch == 0 || offsets(batch - 1).nonEmpty

  private[spark] def offsetMetadata(batch: Long): SparkShim.OffsetMetadata =
    stillThere(s"$location/offsets/$batch", offsets(batch).flatMap(SparkShim.metadata))

  /** Class name of the state store provider that a batch ran with. */
  def providerOf(batch: Long): Option[String] = settings(batch).flatMap(_.get(ProviderKey))

  /** Whether a batch's state is Keyfold's; not if the log has no such batch. */
  def isKeyfolds(batch: Long): Boolean = providerOf(batch).contains(ProviderClass.Keyfold)

  /** Whether a batch's state is that of one of Spark's own providers. */
  def isBuiltIn(batch: Long): Boolean = providerOf(batch).exists(ProviderClass.BuiltIn.contains)

  /** The batches in the commit log, ascending. */
  def committedBatches: Seq[Long] = numbers("commits")

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
    idsOf(queryLogs.decodeCommit(entry))

  private def idsOf(commit: SparkShim.CommitEntry) = commit.stateUniqueIds.filter(_.nonEmpty)

  /** Ids of one store's state, one for each partition; none if the operator has no state yet.
    *
    * @param ids
    *   of all operators after the batch
    * @param stores
    *   how many the operator has
    * @param store
    *   the index of this one
    * @throws io.keyfold.errors.Invalid
    *   if the commit log does not have them
    */
  def idsOfStore(
      batch: Long,
      ids: Option[Map[Long, Array[Array[String]]]],
      operator: Long,
      stores: Int,
      store: Int
  ): Option[IndexedSeq[String]] =
    ids.map { all =>
      all.getOrElse(operator, Array.empty[Array[String]]).toIndexedSeq.map { ofPartition =>
        if (ofPartition.length != stores) {
          throw new Invalid(
            "KEYFOLD_CHECKPOINT_DAMAGED",
            s"Cannot read batch $batch of $location: operator $operator has " +
              s"$stores stores, the commit log has ${ofPartition.length} ids of a " +
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

  /** Whether a batch is Keyfold's own, of a rescale, a migration or a write: it has the input and
    * the time of the batch before, and another setting.
    */
  def isOwn(batch: Long): Boolean = {
    for {
      own <- offsets(batch); before <- offsets(batch - 1)
      settings <- settings(batch)
    } yield own != before && own == SparkShim.withSettings(before, settings)
  }.contains(true)

  /** Whether a batch is that of a write of rows into the state. */
  def isWrite(batch: Long): Boolean = writeOf(batch).nonEmpty &&
    writeOf(batch) != writeOf(batch - 1) && isOwn(batch)

  /** Id of the run that began a batch as that of a write; the query's own batches have none. */
  def writeOf(batch: Long): Option[String] = settings(batch).flatMap(_.get(WriteKey))

  /** Commits the batch of a write that broke off, with the state that was before: the query would
    * run it with the watermark that the batch before had, not with the one that it led to.
    */
  def endWrite(): Unit =
    for {
      last <- lastCommitted if lastBegun.contains(last + 1) && isWrite(last + 1)
      ids <- unchangedIds(last)
    } {
      commit(last + 1, last, Some(ids))
      ()
    }

  /** Ids for the batch after a committed one, if its state is the same; None under checkpoint
    * format v1.
    */
  def unchangedIds(batch: Long): Option[Map[Long, Array[Array[String]]]] = ids(batch).map { all =>
    all.map { case (operator, of) =>
      operator -> of.map(_.map(VersionId(batch + 1, _).unchanged.id))
    }
  }

  /** Whether a batch is the same as in a copy of these logs, whatever its settings: a rescale
    * before an open batch changes those of the batch before. Also if one of both does not have it.
    */
  def hasSame(batch: Long, copy: CheckpointLogs): Boolean = {
    for {
      own <- offsets(batch); its <- copy.offsets(batch); settings <- settings(batch)
    } yield own == SparkShim.withSettings(its, settings)
  }.getOrElse(true)

  /** Lines of a batch's entry in the commit log. */
  private def linesOf(batch: Long): Seq[String] = {
    val path = s"commits/$batch"
    val entry = files.read(path).getOrElse(throw new FileNotFoundException(s"$location/$path"))
    new String(entry, UTF_8).linesIterator.toSeq
  }

  /** Whether any operator has state. */
  def hasState: Boolean = operatorFolders.nonEmpty

  /** Operators that have a folder, ascending. */
  private[spark] def operatorFolders: Seq[Long] = numbers("state")

  def hasCommitted(batch: Long): Boolean = committed(batch).nonEmpty

  /** Batches for which an operator has its own metadata, ascending; empty if its metadata have no
    * versions.
    */
  def operatorVersions(operator: Long): Seq[Long] =
    numbers(OperatorStateMetadataV2.metadataDirPath(new Path(s"state/$operator")).toString)

  /** Partitions that an operator has or had. */
  def partitionFolders(operator: Long): Seq[Int] = numbers(s"state/$operator").map(_.toInt)

  private def numbers(folder: String): Seq[Long] =
    files.names(folder).flatMap(_.toLongOption).sorted

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
    queryId.exists(SparkPrivate.checkpointOfRun(session, _).nonEmpty)

  /** Operators as of a batch.
    *
    * @throws io.keyfold.errors.Invalid
    *   if there is state that Spark's metadata do not list, and that would be passed over
    */
  def operators(batch: Long): Seq[Operator] =
    for (found <- metadata(batch)) yield {
      val info = found.operatorInfo
      val stores = SparkShim.stores(found).map(_.storeName)
      val operator = Operator(info.operatorId, info.operatorName, stores)
      for (store <- unlisted(operator, batch + 1)) throw passedOver(operator, batch, store)
      operator
    }

  /** A store that has state and that Spark's metadata of its operator lack. Spark writes the
    * metadata of most operators once, in the first attempt at the first batch, and keeps them if
    * that attempt was of another query than the one that commits the batch.
    *
    * @param version
    *   whose files are looked for, in partition 0, which each operator has
    */
  private def unlisted(operator: Operator, version: Long): Option[String] = {
    val first = s"state/${operator.id}/0"
    val names = files.names(first).sorted
    def has(names: Seq[String]) =
      names.exists(it => it.startsWith(s"$version.") || it.startsWith(s"${version}_"))
    def isUnlisted(store: String) = !operator.stores.contains(store)
    names
      .find(it => isUnlisted(it) && !it.contains('.') && has(files.names(s"$first/$it")))
      .orElse(Some(DefaultStore).filter(it => isUnlisted(it) && has(names)))
  }

  private def passedOver(operator: Operator, batch: Long, store: String) = new Invalid(
    "KEYFOLD_CHECKPOINT_DAMAGED",
    s"Operator ${operator.id} of $location has state of batch $batch in the store '$store', and " +
      s"Spark's metadata say that it is a ${operator.name} with the stores " +
      s"${operator.stores.mkString(", ")}: they are those of an attempt that failed, with another " +
      s"query. Delete $state/${operator.id}/_metadata, which Spark writes again when the query " +
      "starts, and let it run one batch. Nothing was changed."
  )

  private[spark] def metadata(batch: Long): Seq[OperatorStateMetadata] =
    understood(new Path(state, "*/_metadata")) {
      SparkShim.operators(location, hadoopConf, batch)
    }

  private def offsets(batch: Long) =
    understood(
      new Path(location, s"offsets/$batch"),
      GoesOn
    )(queryLogs.offsets.flatMap(_.get(batch)))

  private[checkpoint] def requireOffsets(batch: Long): SparkShim.OffsetEntry =
    stillThere(s"$location/offsets/$batch", offsets(batch))

  private def committed(batch: Long) =
    understood(
      new Path(location, s"commits/$batch"),
      if (lastCommitted.contains(batch) && lastBegun.contains(batch))
        s"Or delete it instead: Spark then runs batch $batch again, and the sink gets its rows again."
      else GoesOn
    ) {
      val commit = queryLogs.commits.flatMap(_.get(batch))
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
    val entry = SparkShim.withSettings(requireOffsets(of), settings)
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
    if (begun.isEmpty && isMine) files.delete(s"commits/$batch")
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
  def wasChanged: Boolean = files.names("keyfold").nonEmpty
}

object CheckpointLogs {
  val PartitionsKey: String = SQLConf.SHUFFLE_PARTITIONS.key
  val ProviderKey: String = SQLConf.STATE_STORE_PROVIDER_CLASS.key
  val FormatKey: String = SQLConf.STATE_STORE_CHECKPOINT_FORMAT_VERSION.key

  /** Setting of a write's batch: the id of the run that began it. */
  val WriteKey = "spark.sql.streaming.keyfold.write"
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
}

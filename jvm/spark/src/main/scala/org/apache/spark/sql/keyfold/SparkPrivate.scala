package org.apache.spark.sql.keyfold

import java.io.FileNotFoundException
import java.nio.file.{Path => LocalPath}
import java.util.UUID

import scala.jdk.CollectionConverters._
import scala.util.Try

import io.keyfold.errors.FamilyMismatch
import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path
import org.apache.spark.internal.config._
import org.apache.spark._
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.errors.QueryExecutionErrors
import org.apache.spark.sql.execution.streaming.state._
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.util.{NextIterator, Utils}
import org.slf4j.LoggerFactory

/** The uses of Spark's private API that all Spark lines share. */
object SparkPrivate {

  /** Spark's iterator over a change feed, whose class is private to Spark: record type, key, value
    * (null if removed), batch.
    */
  type ChangeIterator = NextIterator[(RecordType.Value, UnsafeRow, UnsafeRow, Long)]

  private val log = LoggerFactory.getLogger("io.keyfold.spark.KeyfoldExtensions")

  /** Settings that give executors jars. */
  private val JarSettings =
    Seq("spark.jars", "spark.yarn.dist.jars", "spark.executor.extraClassPath")

  /** Setting that passes the id of the query's run to executors. */
  val RunIdKey: String = SparkShim.StreamExecution.RUN_ID_KEY

  /** Property of a task that has the group of its job. */
  val JobGroupKey: String = SparkContext.SPARK_JOB_GROUP_ID

  /** Setting that names the class of the checkpoint file manager. */
  val FileManagerKey: String = SQLConf.STREAMING_CHECKPOINT_FILE_MANAGER_CLASS.parent.key

  /** Settings of the application that runs in this JVM; None if there is none. */
  def conf: Option[SparkConf] = Option(SparkEnv.get).map(_.conf)

  /** Bytes that an executor may use beside its heap; None if no cluster manager limits it. */
  def memoryOverhead(conf: SparkConf): Option[Long] =
    Option.when(conf.get("spark.master", "").matches("(yarn|k8s).*")) {
      val heap = conf.get(EXECUTOR_MEMORY)
      val least = conf.get(EXECUTOR_MIN_MEMORY_OVERHEAD)
      // The older name is Kubernetes' own; its driver sets it for programs that are not of the JVM.
      val factor = EXECUTOR_MEMORY_OVERHEAD_FACTOR
      val older =
        if (conf.get("spark.master").startsWith("k8s") && !conf.contains(factor.key))
          conf.getOption("spark.kubernetes.memoryOverheadFactor").map(_.toDouble)
        else None
      val share = (heap * older.getOrElse(conf.get(factor))).toLong
      conf.get(EXECUTOR_MEMORY_OVERHEAD).getOrElse(math.max(share, least)) << 20
    }

  /** Bytes that Spark itself may take off the heap; None if it takes none. */
  def offHeapMemory(conf: SparkConf): Option[Long] =
    Option.when(conf.get(MEMORY_OFFHEAP_ENABLED))(conf.get(MEMORY_OFFHEAP_SIZE))

  /** Whether the operator of a store is a streaming LIMIT, by Spark's description of it, which is
    * there before the operator's first task.
    */
  def isLimit(store: StateStoreId, conf: Configuration): Boolean = {
    val folder = new Path(store.checkpointRootLocation, store.operatorId.toString)
    try
      new OperatorStateMetadataV1Reader(folder, conf)
        .read()
        .exists(_.operatorInfo.operatorName == "globalLimit")
    catch { case _: FileNotFoundException => false }
  }

  /** The checkpoint of a query that runs in this application; None if it does not. */
  def checkpointOfRun(session: SparkSession, query: UUID): Option[String] =
    Option(session.sharedState.activeStreamingQueries.get(query)).map(_.resolvedCheckpointRoot)

  /** Id of the application whose driver this is. */
  def application: Option[String] = SparkContext.getActive.map(_.applicationId)

  /** Id of the executor that the driver is in local mode. */
  val LocalExecutor: String = SparkContext.DRIVER_IDENTIFIER

  /** Ids of the executors that have registered. */
  def executors: Seq[String] = SparkContext.getActive.fold(Seq.empty[String]) { context =>
    if (context.isLocal) Seq(LocalExecutor) else context.getExecutorIds()
  }

  /** Id of the executor that this JVM is. */
  def executorId: String = SparkEnv.get.executorId

  /** Host of the executor that this JVM is. */
  def executorHost: String = SparkEnv.get.blockManager.blockManagerId.host

  /** Sends executors the jar of a class if Spark was given the jar for the driver only: tasks would
    * fail with a ClassNotFoundException, which does not say what to do. A jar beside Spark's own is
    * assumed to be on every machine.
    */
  def sendToExecutors(of: Class[_]): Unit =
    for {
      context <- SparkContext.getActive if !context.isLocal
      jar <- jarOf(of) if !jarOf(classOf[SparkContext]).exists(_.getParent == jar.getParent)
      given = JarSettings.flatMap(context.getConf.getOption) ++ context.listJars()
      if !given.exists(_.contains(jar.getFileName.toString))
    } {
      log.info(s"Executors were not given ${jar.getFileName}; sending $jar from the driver")
      context.addJar(jar.toUri.toString)
    }

  /** A class of this JVM; None if it cannot be loaded. */
  def classNamed(name: String): Option[Class[_]] =
    try Some(Utils.classForName[Any](name, initialize = false))
    catch { case _: ClassNotFoundException | _: LinkageError => None }

  /** The jar file of a class; None if the class comes from elsewhere. */
  def jarOf(cls: Class[_]): Option[LocalPath] =
    Option(cls.getProtectionDomain.getCodeSource)
      .flatMap(source => Option(source.getLocation))
      .filter(url => url.getProtocol == "file" && url.getPath.endsWith(".jar"))
      // Some class loaders have locations with spaces, which are not valid URIs.
      .map(url => Try(LocalPath.of(url.toURI)).getOrElse(LocalPath.of(url.getPath)))

  /** A folder for this JVM's temporary files. */
  def localFolder: LocalPath =
    LocalPath.of(conf.fold(System.getProperty("java.io.tmpdir"))(Utils.getLocalDir))

  /** All folders of which `localFolder` is one. */
  def localFolders: Seq[LocalPath] =
    Utils.getOrCreateLocalRootDirs(SparkEnv.get.conf).toSeq.map(LocalPath.of(_))

  /** Spark's error for state that cannot be loaded, with the reason in its message, because users
    * of a streaming query do not see the message of a cause.
    *
    * @param advice
    *   what to do, after the reason
    */
  def cannotLoad(cause: Throwable, advice: Option[String] = None): Throwable =
    withReason(SparkShim.cannotLoad(cause), cause, advice)

  /** Spark's error for a missing state file, with the reason and advice in its message. */
  def cannotRead(path: String, cause: Throwable, advice: String): Throwable =
    withReason(
      QueryExecutionErrors.failedToReadStreamingStateFileError(new Path(path), cause),
      cause,
      Some(advice)
    )

  /** Spark's error for a failed commit, with the reason in its message. */
  def cannotCommit(store: String, cause: Throwable): Throwable =
    withReason(QueryExecutionErrors.failedToCommitStateFileError(store, cause), cause)

  /** Spark's error for a row that does not match its checksum. */
  def corruptRow(store: String, expected: Int, computed: Int, cause: Throwable): Throwable =
    withReason(SparkShim.wrongChecksum(store, expected, computed), cause)

  /** Spark's error for a column family that has changed. (The constructor of its own class passes
    * wrong parameter names for the message, and fails.)
    */
  def familyMismatch(family: String, cause: FamilyMismatch): Throwable =
    new SparkUnsupportedOperationException(
      "STATE_STORE_COLUMN_FAMILY_SCHEMA_INCOMPATIBLE",
      Map("colFamilyName" -> family, "oldSchema" -> cause.found, "newSchema" -> cause.wanted)
    ).initCause(cause)

  private def withReason(
      error: Throwable,
      cause: Throwable,
      advice: Option[String] = None
  ): Throwable = error match {
    case e: SparkException if e ne cause =>
      new SparkException(
        (Seq(e.getMessage, cause.getMessage) ++ advice).mkString(" "),
        cause,
        Option(e.getCondition),
        e.getMessageParameters.asScala.toMap
      )
    case other => other
  }

  def unexpectedVersion(version: Long): Throwable =
    QueryExecutionErrors.unexpectedStateStoreVersion(version)
}

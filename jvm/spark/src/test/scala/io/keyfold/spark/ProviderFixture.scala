package io.keyfold.spark

import java.nio.file.{Files, Path}
import java.util.{Comparator, UUID}

import org.apache.hadoop.conf.Configuration
import org.apache.spark.sql.catalyst.{CatalystTypeConverters, InternalRow}
import org.apache.spark.sql.catalyst.expressions.{UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.execution.streaming.state._
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.keyfold.{SparkPrivate, SparkShim}
import org.apache.spark.sql.types.{LongType, StringType, StructType}

/** Providers over a folder of their own, without a SparkSession. Keys are (text, number), values
  * one number, unless a test says otherwise.
  */
final class ProviderFixture(
    val keySchema: StructType = ProviderFixture.keySchema,
    val valueSchema: StructType = ProviderFixture.valueSchema
) {
  val root: Path = Files.createTempDirectory("keyfold")

  /** As Spark tells a store where it is. */
  val state: String = root.resolve("state").toUri.toString

  /** Faults of the files below `root`, for providers that are made with `faults.settings`. */
  lazy val faults: FileFaults = new FileFaults(root.toString)
  private val keyOf = UnsafeProjection.create(keySchema)
  private val valueOf = UnsafeProjection.create(valueSchema)

  /** A new, initialised provider.
    *
    * @param confs
    *   Spark settings; those of `ProviderFixture.quick` are there already
    * @param hadoop
    *   settings of Hadoop's
    * @param partitions
    *   N as executors are told; 0 = not told
    */
  def provider(
      confs: Map[String, String] = Map.empty,
      hadoop: Map[String, String] = Map.empty,
      partitions: Int = 0,
      partition: Int = 0,
      store: String = StateStoreId.DEFAULT_STORE_NAME,
      spec: StructType => KeyStateEncoderSpec = NoPrefixKeyStateEncoderSpec(_),
      columnFamilies: Boolean = false,
      multipleValues: Boolean = false,
      className: String = classOf[KeyfoldStateStoreProvider].getName
  ): StateStoreProvider = {
    val conf = new SQLConf
    (ProviderFixture.quick ++ confs).foreach { case (key, value) => conf.setConfString(key, value) }
    val hadoopConf = new Configuration(ProviderFixture.hadoopDefaults)
    hadoopConf.set(SparkPrivate.RunIdKey, UUID.randomUUID.toString)
    hadoop.foreach { case (key, value) => hadoopConf.set(key, value) }
    if (partitions > 0) hadoopConf.setInt(SparkShim.PartitionsKey, partitions)
    val provider = StateStoreProvider.create(className)
    provider.init(
      StateStoreId(state, 0, partition, store),
      keySchema,
      valueSchema,
      spec(keySchema),
      columnFamilies,
      new StateStoreConf(conf),
      hadoopConf,
      multipleValues,
      None
    )
    provider
  }

  def key(values: Any*): UnsafeRow = keyOf(internal(values)).copy()
  def value(values: Any*): UnsafeRow = valueOf(internal(values)).copy()

  /** Rows of an iterator as text, copied as Spark's contract asks. */
  def rows(pairs: Iterator[UnsafeRowPair]): Map[Seq[Any], Seq[Any]] =
    pairs.map { pair =>
      pair.key.toSeq(keySchema).map(plain) -> pair.value.toSeq(valueSchema).map(plain)
    }.toMap

  /** Names of the files of partition 0, sorted, without Hadoop's hidden ones. */
  def files: Seq[String] = {
    val folder = root.resolve("state/0/0")
    if (!Files.exists(folder)) Nil
    else {
      val listed = Files.list(folder)
      try
        listed.toArray.toSeq
          .map(_.asInstanceOf[Path].getFileName.toString)
          .sorted
          .filterNot(_.startsWith("."))
      finally listed.close()
    }
  }

  def delete(): Unit = {
    InBackground.await()
    val all = Files.walk(root)
    // Maintenance may still delete old files, too.
    try
      all.sorted(Comparator.reverseOrder[Path]).forEach { file =>
        Files.deleteIfExists(file)
        ()
      }
    finally all.close()
  }

  private def internal(values: Seq[Any]) =
    InternalRow.fromSeq(values.map(CatalystTypeConverters.convertToCatalyst))

  private def plain(value: Any) = value match {
    case null           => null
    case number: Number => number.longValue
    case other          => other.toString
  }
}

object ProviderFixture extends LaterCalls {
  val keySchema: StructType = new StructType().add("k", StringType).add("n", LongType)
  val valueSchema: StructType = new StructType().add("v", LongType)

  /** Read once: reading them takes longer than most tests. */
  private val hadoopDefaults = new Configuration

  private val quick = Map("spark.sql.streaming.stateStore.minDeltasForSnapshot" -> "2")

  /** A row as [[ProviderFixture.rows]] shows it. */
  def entry(k: String, n: Long, v: Long): (Seq[Any], Seq[Any]) = (Seq[Any](k, n), Seq[Any](v))

  /** Runs a test with a fixture and deletes its files. */
  def inFolder[T](fixture: ProviderFixture = new ProviderFixture)(body: ProviderFixture => T): T =
    try body(fixture)
    finally fixture.delete()
}

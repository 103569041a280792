package io.keyfold.bench

/** One of the state store providers that are compared.
  *
  * @param name
  *   in the names of cells
  * @param title
  *   on the page
  * @param settings
  *   Spark settings in which it differs from its defaults
  */
sealed abstract class Provider(
    val name: String,
    val title: String,
    val className: String,
    val settings: Map[String, String] = Map.empty
) {

  /** Settings that bound its memory; nothing if it has no such thing. */
  def bounded(mebibytes: Int): Option[Map[String, String]]
}

object Provider {
  private val SparkPackage = "org.apache.spark.sql.execution.streaming.state"
  private val RocksSetting = "spark.sql.streaming.stateStore.rocksdb"

  case object Hdfs
      extends Provider("hdfs", "HDFSBacked", s"$SparkPackage.HDFSBackedStateStoreProvider") {
    override def bounded(mebibytes: Int): Option[Map[String, String]] = None
  }

  case object RocksCounting extends RocksDb("rocksdb-counting", "RocksDB counting", true)

  case object Rocks extends RocksDb("rocksdb", "RocksDB not counting", false)

  case object Keyfold
      extends Provider(
        "keyfold",
        "Keyfold",
        "io.keyfold.spark.KeyfoldStateStoreProvider",
        Map(
          "spark.sql.streaming.checkpointFileManagerClass" ->
            "io.keyfold.spark.KeyfoldCheckpointFileManager"
        )
      ) {
    override def bounded(mebibytes: Int): Option[Map[String, String]] = Some(
      Map(
        "spark.sql.streaming.stateStore.keyfold.memory.maxBytes" -> (mebibytes.toLong << 20).toString
      )
    )
  }

  /** No store at all: what is left of a query is Spark's own part. */
  case object Nothing
      extends Provider("nothing", "no store", "io.keyfold.bench.cell.NothingProvider") {
    override def bounded(mebibytes: Int): Option[Map[String, String]] = None
  }

  /** In the order of the page's columns. */
  val all: Seq[Provider] = Seq(Keyfold, Hdfs, RocksCounting, Rocks, Nothing)

  def ofName(name: String): Provider = all
    .find(_.name == name)
    .getOrElse(throw new IllegalArgumentException(s"Invalid provider: $name"))

  /** RocksDB writing a changelog at each commit instead of uploading its files. */
  sealed abstract class RocksDb(name: String, title: String, counting: Boolean)
      extends Provider(
        name,
        title,
        s"$SparkPackage.RocksDBStateStoreProvider",
        Map(
          s"$RocksSetting.changelogCheckpointing.enabled" -> "true",
          s"$RocksSetting.trackTotalNumberOfRows" -> counting.toString
        )
      ) {
    override def bounded(mebibytes: Int): Option[Map[String, String]] = Some(
      Map(
        s"$RocksSetting.boundedMemoryUsage" -> "true",
        s"$RocksSetting.maxMemoryUsageMB" -> mebibytes.toString
      )
    )
  }
}

package io.keyfold.spark

import java.nio.file.{Files, Path}

import io.keyfold.spark.conf.KeyfoldConf
import org.apache.spark.sql.internal.SQLConf

/** `docs/configuration.md`, generated from the registry of settings: `make docs`. */
object ConfigurationPage {
  val path: Path = Path.of("docs", "configuration.md")

  def text: String = {
    val rows = KeyfoldConf.all.map(e => s"| `${e.key}` | ${e.default} | ${e.doc} |")
    s"""# Settings
       |
       |Generated from `KeyfoldConf` by `make docs`; do not edit. Settings go into the Spark session's
       |configuration before the query starts. A setting below Keyfold's prefix that is not listed
       |here is refused.
       |
       || setting | default | meaning |
       ||---|---|---|
       |${rows.mkString("\n|")}
       |
       |## Spark's settings that Keyfold honours
       |
       || setting | effect |
       ||---|---|
       |${honoured.map { case (key, effect) => s"| `$key` | $effect |" }.mkString("\n|")}
       |
       |Not used: ${unused.map { case (key, why) => s"`$key`, $why" }.mkString("; ")}.
       |""".stripMargin
  }

  private val alsoBefore = " (since Spark 4.2; Keyfold honours it with 4.0 and 4.1, too)"

  /** Spark's entries, so that a setting that Spark does not have does not compile. */
  private val honoured: Seq[(String, String)] = {
    import SQLConf._
    Seq(
      STATE_STORE_MIN_DELTAS_FOR_SNAPSHOT.key -> "deltas since the last snapshot at which maintenance writes the next",
      STATE_STORE_CHECKPOINT_FORMAT_VERSION.key -> "2 gives each attempt files of its own, of which only those are read that the commit log names; `keyfold.configure` sets it",
      STREAMING_MAINTENANCE_INTERVAL.key -> "how often maintenance runs",
      MIN_BATCHES_TO_RETAIN.key -> "how many versions before the newest stay loadable",
      RATIO_EXTRA_SPACE_ALLOWED_IN_CHECKPOINT.key -> "share of these by which old files may pile up before they are looked for and deleted",
      MAX_VERSIONS_TO_DELETE_PER_MAINTENANCE.key -> "most versions whose files one maintenance deletes (since Spark 4.1)",
      STATE_STORE_AUTO_SNAPSHOT_REPAIR_ENABLED.key -> s"whether an older snapshot and more deltas take the place of a snapshot that cannot be read$alsoBefore",
      STATE_STORE_AUTO_SNAPSHOT_REPAIR_NUM_FAILURES_BEFORE_ACTIVATING.key -> s"how often the snapshot is tried before that$alsoBefore",
      STATE_STORE_AUTO_SNAPSHOT_REPAIR_MAX_CHANGE_FILE_REPLAY.key -> s"most deltas to read in its place$alsoBefore",
      STATE_STORE_ROW_CHECKSUM_ENABLED.key -> "each row has a checksum, in memory and in files; one that memory has damaged is never written (since Spark 4.2)",
      STATE_STORE_ROW_CHECKSUM_READ_VERIFICATION_RATIO.key -> "of so many rows read from memory one is verified; 0: none (since Spark 4.2)",
      MAX_BATCHES_TO_RETAIN_IN_MEMORY.key -> "newest versions kept in memory, at least 2",
      STREAMING_STATE_STORE_ENCODING_FORMAT.key -> "`unsaferow` or `avro`: how transformWithState encodes its rows (`test_operator_tables.py` runs both)",
      STATE_STORE_FORMAT_VALIDATION_ENABLED.key -> "whether the first row read is checked against the query's schema",
      STATE_STORE_COMMIT_VALIDATION_ENABLED.key -> "whether commits are reported to the driver (since Spark 4.1)",
      STATE_STORE_COORDINATOR_REPORT_SNAPSHOT_UPLOAD_LAG.key -> "whether snapshots are reported to the driver, which asks for one where they lag (since Spark 4.1)",
      STATE_STORE_UNLOAD_ON_COMMIT.key -> "maintenance and unloading at the end of each task (since Spark 4.1)",
      STREAMING_CHECKPOINT_FILE_MANAGER_CLASS.parent.key -> "the class that writes and reads checkpoint files; `keyfold.configure` sets Keyfold's, which state files use by default"
    )
  }

  private val unused: Seq[(String, String)] = Seq(
    SQLConf.STREAMING_CHECKPOINT_FILE_CHECKSUM_ENABLED.key ->
      "as Keyfold's files carry their own checksums",
    SQLConf.STATE_STORE_COMPRESSION_CODEC.key ->
      s"as `${KeyfoldConf.all.find(_.key.endsWith("compression.codec")).get.key}` takes its place"
  )

  def main(args: Array[String]): Unit = {
    Files.writeString(path, text)
    ()
  }
}

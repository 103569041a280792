package io.keyfold.spark

import java.nio.file.{Files, Path}

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
       || `spark.sql.streaming.stateStore.minDeltasForSnapshot` | deltas since the last snapshot at which maintenance writes the next |
       || `spark.sql.streaming.stateStore.checkpointFormatVersion` | 2 gives each attempt files of its own, of which only those are read that the commit log names; `keyfold.configure` sets it |
       || `spark.sql.streaming.stateStore.maintenanceInterval` | how often maintenance runs |
       || `spark.sql.streaming.minBatchesToRetain` | how many versions before the newest stay loadable |
       || `spark.sql.streaming.ratioExtraSpaceAllowedInCheckpoint` | share of these by which old files may pile up before they are looked for and deleted |
       || `spark.sql.streaming.stateStore.maxVersionsToDeletePerMaintenance` | most versions whose files one maintenance deletes |
       || `spark.sql.streaming.stateStore.autoSnapshotRepair.enabled` | whether an older snapshot and more deltas take the place of a snapshot that cannot be read |
       || `spark.sql.streaming.stateStore.autoSnapshotRepair.numFailuresBeforeActivating` | how often the snapshot is tried before that |
       || `spark.sql.streaming.stateStore.autoSnapshotRepair.maxChangeFileReplay` | most deltas to read in its place |
       || `spark.sql.streaming.stateStore.rowChecksum.enabled` | each row has a checksum, in memory and in files; one that memory has damaged is never written |
       || `spark.sql.streaming.stateStore.rowChecksum.readVerificationRatio` | of so many rows read from memory one is verified; 0: none |
       || `spark.sql.streaming.maxBatchesToRetainInMemory` | newest versions kept in memory, at least 2 |
       || `spark.sql.streaming.stateStore.formatValidation.enabled` | whether the first row read is checked against the query's schema |
       || `spark.sql.streaming.stateStore.commitValidation.enabled` | whether commits are reported to the driver |
       || `spark.sql.streaming.stateStore.coordinatorReportSnapshotUploadLag` | whether snapshots are reported to the driver, which asks for one where they lag |
       || `spark.sql.streaming.stateStore.unloadOnCommit` | maintenance and unloading at the end of each task |
       || `spark.sql.streaming.checkpointFileManagerClass` | how files are written |
       |
       |Not supported yet, and refused when the query starts: `spark.sql.streaming.stateStore.encodingFormat`
       |other than `unsaferow`. Not used, as Keyfold's files carry their own checksums:
       |`spark.sql.streaming.checkpoint.fileChecksum.enabled`.
       |""".stripMargin
  }

  def main(args: Array[String]): Unit = {
    Files.writeString(path, text)
    ()
  }
}

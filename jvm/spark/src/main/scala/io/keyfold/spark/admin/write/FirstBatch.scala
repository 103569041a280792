package io.keyfold.spark.admin.write

import io.keyfold.errors.Invalid
import io.keyfold.spark.checkpoint.{CheckpointFiles, CheckpointLogs, CheckpointTools, LogEntry}
import io.keyfold.spark.conf.ProviderClass
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.keyfold.EmptyInput
import org.apache.spark.sql.{DataFrame, SparkSession}
import org.json4s.JsonAST.JLong

/** The first batch of a query that has not run, which has read nothing. Spark runs it over sources
  * without rows, so that schemas, metadata and empty stores are its own. Then the entries of the
  * logs are those of the query's sources.
  *
  * @param folder
  *   its checkpoint; nothing is there
  * @param withInitialState
  *   whether operators get the state that the query gives them in its first batch
  */
private[admin] final class FirstBatch(
    session: SparkSession,
    query: DataFrame,
    outputMode: String,
    folder: String,
    withInitialState: Boolean = true
) {
  private val files = new CheckpointFiles(folder, session.sessionState.newHadoopConf())

  /** Why the session or the query cannot have a checkpoint of Keyfold's. */
  def refusal: Option[String] = {
    val conf = session.sessionState.conf
    val format = SQLConf.STATE_STORE_CHECKPOINT_FORMAT_VERSION
    if (!query.isStreaming) Some("it is no streaming query")
    else if (conf.stateStoreProviderClass != ProviderClass.Keyfold)
      Some(
        s"the session's state store provider is ${conf.stateStoreProviderClass}, not ${ProviderClass.Keyfold}"
      )
    else Option.when(conf.getConf(format) < 2)(s"the session's ${format.key} is not 2")
  }

  /** @param watermarkMs
    *   that the query begins with, in milliseconds since 1970
    * @return
    *   what it has shown of the query
    * @throws io.keyfold.errors.Invalid
    *   if the query has no state
    */
  def run(watermarkMs: Long): EmptyInput.Planned = {
    CheckpointTools.progress("running a first batch without rows")
    val found = EmptyInput.run(query, outputMode, folder, withInitialState)
    if (!new CheckpointLogs(session, folder).ids(0).exists(_.nonEmpty)) {
      throw new Invalid(
        "KEYFOLD_WRITE_REFUSED",
        "The query has no stateful operator. Nothing was written."
      )
    }
    val begun = LogEntry.read(files, "offsets/0")
    if (begun.version != LogEntry.Version) {
      throw new Invalid(
        "KEYFOLD_WRITE_REFUSED",
        s"The query's offset log is of format ${begun.version}. Nothing was written."
      )
    }
    // What has expired by now must still be found by the next batch: it looks after this one.
    val times = Seq("batchWatermarkMs" -> JLong(watermarkMs), "batchTimestampMs" -> JLong(0))
    val unread = begun.copy(sources = begun.sources.map(_ => LogEntry.NothingRead))
    files.replace("offsets/0", unread.withFields(times: _*).bytes)
    val committed = LogEntry.read(files, "commits/0")
    val marked = committed.withFields("nextBatchWatermarkMs" -> JLong(watermarkMs))
    files.replace("commits/0", marked.bytes)
    found
  }

  /** Deletes its folder. */
  def delete(): Unit = files.deleteAll()
}

package io.keyfold.spark.admin.write

import java.nio.charset.StandardCharsets.UTF_8
import java.util.UUID

import io.keyfold.errors.Invalid
import io.keyfold.spark.admin.clone.CheckpointClone
import io.keyfold.spark.checkpoint.{CheckpointFiles, CheckpointLogs, CheckpointTools}
import io.keyfold.spark.conf.ProviderClass
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.keyfold.EmptyInput
import org.apache.spark.sql.{DataFrame, SparkSession}
import org.json4s._
import org.json4s.jackson.JsonMethods.{compact, parse, render}

/** Makes the checkpoint of a query that has not run, which can then be given state: its first
  * batch, which has read nothing, is committed.
  *
  * Spark runs that batch over sources without rows, in a folder beside the target, so that schemas,
  * metadata and empty stores are its own. Then the entries of the logs are those of the query's
  * sources, and the folder is cloned: the commit log of the target comes last. A run that breaks
  * off leaves that folder.
  *
  * @param to
  *   the checkpoint; nothing may be there
  * @param watermarkMs
  *   that the query begins with, in milliseconds since 1970
  */
private[admin] final class Bootstrap(
    session: SparkSession,
    query: DataFrame,
    to: String,
    outputMode: String,
    watermarkMs: Long
) {
  import CheckpointTools.progress

  private val target = new CheckpointFiles(to, session.sessionState.newHadoopConf())
  private val beside = s"${target.location}.bootstrap-${UUID.randomUUID}"

  /** @throws io.keyfold.errors.Invalid
    *   if the session has no Keyfold or no checkpoint format 2, the query has no state, or
    *   something is at the target
    */
  def run(): Unit = {
    require(query.isStreaming, "it is no streaming query")
    val conf = session.sessionState.conf
    require(
      conf.stateStoreProviderClass == ProviderClass.Keyfold,
      s"the session's state store provider is ${conf.stateStoreProviderClass}, not ${ProviderClass.Keyfold}"
    )
    val format = SQLConf.STATE_STORE_CHECKPOINT_FORMAT_VERSION
    require(conf.getConf(format) >= 2, s"${format.key} is not 2")
    require(target.isEmpty, s"${target.location} is not empty")
    val files = new CheckpointFiles(beside, session.sessionState.newHadoopConf())
    try {
      progress("running a first batch without rows")
      EmptyInput.run(query, outputMode, beside)
      require(
        new CheckpointLogs(session, beside).ids(0).exists(_.nonEmpty),
        "it has no stateful operator"
      )
      change(files, "offsets/0") { case version +: metadata +: offsets =>
        require(version == "v1", s"its offset log is of format $version")
        // What has expired by now must still be found by the next batch: it looks after this one.
        val begun =
          withField(withField(metadata, "batchWatermarkMs", watermarkMs), "batchTimestampMs", 0)
        version +: begun +: offsets.map(_ => NothingRead)
      }
      change(files, "commits/0") { case version +: metadata +: others =>
        version +: withField(metadata, "nextBatchWatermarkMs", watermarkMs) +: others
      }
      CheckpointTools.using(session, beside) { tools =>
        new CheckpointClone(tools, to, None, newQuery = true).run()
      }
      ()
    } finally files.deleteAll()
  }

  private def require(holds: Boolean, otherwise: => String): Unit =
    if (!holds) {
      throw new Invalid(
        "KEYFOLD_WRITE_REFUSED",
        s"Cannot make the checkpoint ${target.location}: $otherwise. Nothing was written there."
      )
    }

  private def change(files: CheckpointFiles, path: String)(
      lines: PartialFunction[Seq[String], Seq[String]]
  ): Unit = {
    val old = new String(files.read(path).get, UTF_8).linesIterator.toSeq
    files.replace(path, lines(old).mkString("\n").getBytes(UTF_8))
  }

  private def withField(json: String, name: String, value: Long) =
    compact(render(parse(json).merge(JObject(name -> JLong(value)))))

  /** In the offset log, of a source of which nothing was read yet. */
  private def NothingRead = "-"
}

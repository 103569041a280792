package org.apache.spark.sql.keyfold

import java.nio.charset.StandardCharsets.UTF_8

import scala.io.Source
import scala.util.{Try, Using}

import io.keyfold.errors.{Invalid, RescaleRefused, StoreError}
import org.apache.hadoop.fs.Path
import org.apache.spark.SPARK_VERSION
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.streaming.WriteToStream
import org.apache.spark.sql.internal.SQLConf

/** Explains, when a query starts, why it cannot go on with its checkpoint. Later lines need none of
  * it: there a commit log is read under every checkpoint format, and Spark itself finds a rescale
  * that was not finished. Here Spark names a version of a log, or an index that an array does not
  * have.
  *
  * @param known
  *   class names of Spark's two providers
  */
private[keyfold] final class RefuseAtStart(session: SparkSession, known: Seq[String])
    extends (LogicalPlan => Unit) {

  /** By the name and the default that the setting has in later lines. */
  private val checksRescale = "spark.sql.streaming.checkUnfinishedRepartitionOnRestart"
  private val formatKey = SQLConf.STATE_STORE_CHECKPOINT_FORMAT_VERSION.key

  private def conf = session.sessionState.conf

  /** What cannot be read is for Spark to report. */
  override def apply(plan: LogicalPlan): Unit = plan match {
    case query: WriteToStream =>
      Try(refusal(query.resolvedCheckpointLocation)).toOption.flatten.foreach(throw _)
    case _ => ()
  }

  private def refusal(checkpoint: String): Option[StoreError] = {
    val logs = new CheckpointLogs(session, checkpoint)
    for {
      last <- logs.lastCommitted
      reason <- otherFormat(logs, last).orElse(unfinished(logs, last))
    } yield reason
  }

  private def otherFormat(logs: CheckpointLogs, last: Long): Option[Invalid] = {
    val format = formatOf(new Path(logs.location, s"commits/$last"), logs)
    val wanted = conf.getConf(SQLConf.STATE_STORE_CHECKPOINT_FORMAT_VERSION)
    val others =
      logs.settings(last).flatMap(_.get(CheckpointLogs.ProviderKey)).filter(known.contains)
    if (format == wanted) None
    else if (format == 1 && others.nonEmpty)
      others.map(RefuseOtherProvider.refused(logs.state.toString, _))
    else
      Some(
        new Invalid(
          "KEYFOLD_CHECKPOINT_FORMAT",
          s"The checkpoint ${logs.location} was written under checkpoint format $format, and " +
            s"$formatKey=$wanted is set. Spark $SPARK_VERSION cannot change the format of a " +
            s"checkpoint: set $formatKey=$format for this query before it starts."
        )
      )
  }

  /** The version of an entry in the commit log is that of the checkpoint's format. */
  private def formatOf(commit: Path, logs: CheckpointLogs): Int = {
    val manager = SparkShim.CheckpointFileManager.create(commit.getParent, logs.hadoopConf)
    Using.resource(manager.open(commit)) { in =>
      Source.fromInputStream(in, UTF_8.name).getLines().next().trim.stripPrefix("v").toInt
    }
  }

  /** A rescale changes the number of partitions with a batch of its own, and nothing else does. */
  private def unfinished(logs: CheckpointLogs, last: Long): Option[RescaleRefused] =
    for {
      begun <- logs.lastBegun
      if begun > last && conf.getConfString(checksRescale, "true").toBoolean
      from <- logs.partitions(last)
      to <- logs.partitions(begun) if to != from
    } yield new RescaleRefused(
      "KEYFOLD_RESCALE_UNFINISHED",
      s"A rescale of ${logs.location} from $from to $to partitions was begun as batch $begun, and " +
        "not finished. To finish it, run `keyfold rescale` again with that number; to give it up, " +
        s"roll back to batch $last (`keyfold rollback`)."
    )
}

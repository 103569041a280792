package io.keyfold.spark

import java.nio.file.Files
import java.sql.Timestamp

import scala.collection.mutable

import org.apache.spark.sql.Dataset
import org.apache.spark.sql.keyfold.StateStores
import org.apache.spark.sql.keyfold.TestNames.MemoryStream
import org.apache.spark.sql.streaming.{GroupState, GroupStateTimeout, OutputMode, Trigger}
import org.scalatest.funsuite.AnyFunSuite

/** flatMapGroupsWithState of state format 1, whose times of timeouts do not fit their schema: runs
  * that load what others have written, beside HDFSBacked.
  */
class GroupTimeoutsSuite extends AnyFunSuite with QuietLogs with LocalSpark {
  import GroupTimeoutsSuite._

  override protected def settings: Map[String, String] = Map(
    "spark.sql.streaming.flatMapGroupsWithState.stateFormatVersion" -> "1",
    "spark.sql.streaming.stateStore.checkpointFormatVersion" -> "1"
  )

  /** What comes out of runs with a row for each of three keys at these seconds. */
  private def outputs(provider: String, seconds: Seq[Long]): Seq[Set[(Int, Long)]] = {
    val session = spark
    import session.implicits._
    session.conf.set("spark.sql.streaming.stateStore.providerClass", provider)
    val folder = Files.createTempDirectory("keyfold-timeouts")
    val input = MemoryStream[Seen](session)
    seconds.map { second =>
      StateStores.stop()
      input.addData((1 to 3).map(Seen(_, new Timestamp(second * 1000))))
      val found = mutable.Set.empty[(Int, Long)]
      input
        .toDS()
        .withWatermark("at", "0 seconds")
        .groupByKey(_.key)
        .flatMapGroupsWithState(OutputMode.Update(), GroupStateTimeout.EventTimeTimeout())(count)
        .writeStream
        .outputMode("update")
        .option("checkpointLocation", folder.toString)
        .trigger(Trigger.AvailableNow())
        .foreachBatch { (batch: Dataset[(Int, Long)], _: Long) =>
          found ++= batch.collect()
          ()
        }
        .start()
        .awaitTermination()
      found.toSet
    }
  }

  test("runs go on with timeouts of any time, with the answers of HDFSBacked") {
    val seconds = Seq(0L, 10, 20, 30, 400).map(_ + 1700000000L)
    val ours = outputs(classOf[KeyfoldStateStoreProvider].getName, seconds)
    val sparks = outputs(
      "org.apache.spark.sql.execution.streaming.state.HDFSBackedStateStoreProvider",
      seconds
    )
    assert(ours == sparks)
    // Before there is a watermark, timeouts are set for a time long ago: the first rows end at once.
    assert(ours(3).contains((1, 3L)) && ours(4).contains((1, -4L)))
  }
}

object GroupTimeoutsSuite {
  final case class Seen(key: Int, at: Timestamp)

  /** Rows of a key, and once more, negative, when there were none for 100 s. */
  def count(key: Int, rows: Iterator[Seen], state: GroupState[Long]): Iterator[(Int, Long)] =
    if (state.hasTimedOut) {
      val all = state.get
      state.remove()
      Iterator((key, -all))
    } else {
      val all = state.getOption.getOrElse(0L) + rows.size
      state.update(all)
      state.setTimeoutTimestamp(math.max(state.getCurrentWatermarkMs(), 0) + 100000)
      Iterator((key, all))
    }
}

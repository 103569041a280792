package io.keyfold.spark

import java.nio.file.Path

import scala.collection.mutable

import org.apache.spark.sql.{DataFrame, Dataset, Row}

/** What a streaming query gives out. */
object Answers {

  /** Starts a query, gives it batches, and stops it: rows that came, a set for each batch that has
    * some.
    */
  def of[T](query: DataFrame, mode: String, checkpoint: Path, batches: Seq[T])(
      add: T => Unit
  ): Seq[Set[String]] = {
    val found = mutable.Buffer.empty[Set[String]]
    val running = query.writeStream
      .outputMode(mode)
      .option("checkpointLocation", checkpoint.toString)
      .foreachBatch { (rows: Dataset[Row], _: Long) =>
        found += rows.collect().map(_.toString).toSet
        ()
      }
      .start()
    try
      for (batch <- batches) {
        add(batch)
        running.processAllAvailable()
      }
    finally running.stop()
    found.filter(_.nonEmpty).toSeq
  }
}

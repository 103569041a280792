package io.keyfold.spark.checkpoint

import java.util.WeakHashMap

import org.apache.hadoop.fs.FileSystem
import org.apache.hadoop.fs.statistics.{IOStatisticsSource, StoreStatisticNames}

/** How often the clients of file systems, such as S3A, have sent a request again: they count it and
  * say nothing.
  */
private[checkpoint] object ClientRetries {
  private val told = new WeakHashMap[FileSystem, Long]

  /** Since it was last asked for this file system, by any store of the process. */
  def sinceLast(fileSystem: FileSystem): Long = synchronized {
    val now = count(fileSystem)
    val before = told.getOrDefault(fileSystem, 0L)
    told.put(fileSystem, now)
    now - before
  }

  private def count(fileSystem: FileSystem): Long = fileSystem match {
    case source: IOStatisticsSource if source.getIOStatistics != null =>
      source.getIOStatistics.counters.getOrDefault(StoreStatisticNames.STORE_IO_RETRY, 0L)
    case _ => 0
  }
}

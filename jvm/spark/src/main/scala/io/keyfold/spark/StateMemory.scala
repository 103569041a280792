package io.keyfold.spark

import java.lang.management.ManagementFactory

import com.sun.management.OperatingSystemMXBean
import io.keyfold.mem.{PagePool, SpillFiles}
import org.apache.spark.sql.keyfold.{SparkPrivate, SparkShim}
import org.slf4j.LoggerFactory

/** The memory that all stores of this JVM share. */
private[spark] object StateMemory {
  private val log = LoggerFactory.getLogger(getClass)
  private var shared: Option[(PagePool, Long)] = None

  /** @param maxBytes
    *   as set; nothing: the default. Counts only when it is the first.
    */
  def pool(maxBytes: Option[Long]): PagePool = synchronized {
    val (pool, budget) = shared.getOrElse {
      val budget = maxBytes.getOrElse(defaultBytes)
      val pool = new PagePool(budget, Some(new SpillFiles(SparkPrivate.localFolder)))
      log.info("State of all stores may take {} bytes off the heap", budget)
      SparkShim.registerMemory(() => pool.allocatedBytes)
      shared = Some((pool, budget))
      (pool, budget)
    }
    maxBytes.filter(_ != budget).foreach { other =>
      log.warn(
        "{} is {} here; the executor goes on with {}, which it saw first",
        KeyfoldConf.MEMORY_MAX_BYTES.key,
        other,
        budget
      )
    }
    pool
  }

  private def defaultBytes: Long =
    SparkPrivate.memoryOverhead.fold(physicalBytes / 4)(_ / 2)

  /** Of the machine, or of the container. */
  private def physicalBytes: Long =
    ManagementFactory.getPlatformMXBean(classOf[OperatingSystemMXBean]).getTotalMemorySize
}

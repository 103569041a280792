package io.keyfold.spark.state

import java.lang.management.ManagementFactory

import com.sun.management.OperatingSystemMXBean
import io.keyfold.mem.page.{PagePool, SpillFiles}
import io.keyfold.spark.conf.KeyfoldConf
import org.apache.spark.SparkConf
import org.apache.spark.sql.keyfold.{SparkPrivate, SparkShim}
import org.slf4j.LoggerFactory

/** The memory pool shared by all stores of this JVM. */
private[spark] object StateMemory {
  private val log = LoggerFactory.getLogger(getClass)
  private var shared: Option[(PagePool, Long)] = None

  /** @param maxBytes
    *   the setting; None: the default. Only the first call's value counts.
    */
  def pool(maxBytes: Option[Long]): PagePool = synchronized {
    val (pool, budget) = shared.getOrElse {
      val budget = maxBytes.getOrElse(defaultBytes)
      val pool = new PagePool(budget, Some(new SpillFiles(SparkPrivate.localFolder)))
      log.info("The off-heap memory limit of all state stores is {} bytes", budget)
      SparkShim.registerMemory(() => pool.allocatedBytes)
      shared = Some((pool, budget))
      (pool, budget)
    }
    maxBytes.filter(_ != budget).foreach { other =>
      log.warn(
        "{} is {} in this query; the executor keeps {}, the first value that it got",
        KeyfoldConf.MEMORY_MAX_BYTES.key,
        other,
        budget
      )
    }
    pool
  }

  /** The pool and its limit in bytes; None before the first store. */
  def current: Option[(PagePool, Long)] = synchronized(shared)

  /** The limit that this JVM keeps, or would take with the setting, in bytes. */
  def budget(maxBytes: Option[Long]): Long = synchronized {
    shared.fold(maxBytes.getOrElse(defaultBytes)) { case (_, budget) => budget }
  }

  private def defaultBytes: Long = defaultBytes(
    SparkPrivate.conf,
    Runtime.getRuntime.maxMemory,
    machineBytes
  )

  /** Memory of the machine, or of the container if it limits this JVM's, in bytes. */
  def machineBytes: Long =
    ManagementFactory.getPlatformMXBean(classOf[OperatingSystemMXBean]).getTotalMemorySize

  /** Executors that share a machine each take a share, so that together they take no more than one
    * executor would.
    *
    * @param conf
    *   None: Spark does not run
    * @param heap
    *   maximum heap of this JVM in bytes
    * @param machine
    *   memory of the machine or container in bytes
    */
  def defaultBytes(conf: Option[SparkConf], heap: Long, machine: Long): Long =
    conf.flatMap(SparkPrivate.memoryOverhead) match {
      case Some(overhead)                    => overhead / 2
      case None if conf.forall(isTheOnlyJvm) => machine / 4
      case None                              => math.min(heap, machine) / 4
    }

  private def isTheOnlyJvm(conf: SparkConf) = conf.get("spark.master", "").matches("local(\\[.*)?")
}

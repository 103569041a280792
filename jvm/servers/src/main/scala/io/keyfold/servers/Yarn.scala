package io.keyfold.servers

import java.io.{File, FileOutputStream}

import scala.util.Using

import org.apache.hadoop.metrics2.lib.DefaultMetricsSystem
import org.apache.hadoop.yarn.conf.YarnConfiguration
import org.apache.hadoop.yarn.server.nodemanager.NodeManager
import org.apache.hadoop.yarn.server.resourcemanager.ResourceManager

/** A ResourceManager and a NodeManager on free ports of this machine, in this process.
  *
  * A container that takes more physical memory than it has asked for is killed, as on users'
  * clusters. Hadoop's MiniYARNCluster never checks that.
  *
  * @param folder
  *   what it stores; empty or not there
  */
final class Yarn(folder: File) {
  private val conf = {
    val conf = new YarnConfiguration
    val addresses = Seq(
      "resourcemanager.address",
      "resourcemanager.scheduler.address",
      "resourcemanager.resource-tracker.address",
      "resourcemanager.admin.address",
      "resourcemanager.webapp.address",
      "nodemanager.address",
      "nodemanager.localizer.address",
      "nodemanager.webapp.address"
    )
    // 0: any free port.
    addresses.foreach(it => conf.set(s"yarn.$it", "localhost:0"))
    Yarn.settings(folder).foreach { case (name, value) => conf.set(s"yarn.$name", value) }
    conf
  }

  // The names of metrics are then not taken twice.
  DefaultMetricsSystem.setMiniClusterMode(true)
  private val manager = new ResourceManager
  manager.init(conf)
  manager.start()
  private val node = new NodeManager
  node.init(conf)
  node.start()

  /** For HADOOP_CONF_DIR of those who submit applications. */
  val configuration: File = new File(folder, "conf")
  configuration.mkdirs()
  Using.resource(new FileOutputStream(new File(configuration, "yarn-site.xml")))(conf.writeXml(_))

  /** Applications that wait until others have ended, and containers that others wait for. */
  def pending: (Int, Int) = {
    val metrics = manager.getResourceScheduler.getRootQueueMetrics
    (metrics.getAppsPending, metrics.getPendingContainers)
  }

  def close(): Unit = {
    node.stop()
    manager.stop()
  }
}

private object Yarn {

  /** An application of Spark's default sizes has room, with two executors: YARN takes each
    * container for 1 GiB or a multiple of it, a driver or executor for 2.
    */
  private val MEMORY_MB = 6144

  private def settings(folder: File): Map[String, String] = Map(
    "nodemanager.resource.memory-mb" -> MEMORY_MB.toString,
    "nodemanager.resource.cpu-vcores" -> "8",
    // Else the check leaves physical memory to cgroups, which there are none of.
    "nodemanager.resource.memory.enforced" -> "false",
    "nodemanager.vmem-check-enabled" -> "false",
    // At each of them one container is given; ten times as often as by default.
    "resourcemanager.nodemanagers.heartbeat-interval-ms" -> "100",
    "nodemanager.local-dirs" -> new File(folder, "local").getPath,
    "nodemanager.log-dirs" -> new File(folder, "logs").getPath,
    "nodemanager.admin-env" -> s"JAVA_HOME=${sys.props("java.home")}",
    // A disk of a developer may be as full as it likes.
    "nodemanager.disk-health-checker.max-disk-utilization-per-disk-percentage" -> "100",
    // Spark brings Hadoop's classes.
    "application.classpath" -> "",
    "scheduler.capacity.root.queues" -> "default",
    "scheduler.capacity.root.default.capacity" -> "100",
    // Too little for a second application's master: it waits until the first has ended.
    "scheduler.capacity.maximum-am-resource-percent" -> "0.1"
  )
}

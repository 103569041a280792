package io.keyfold.servers

import java.io.{File, FileNotFoundException}

import scala.collection.mutable
import scala.jdk.CollectionConverters._

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{FileUtil, Path}
import org.apache.hadoop.hdfs.MiniDFSCluster
import org.apache.hadoop.hdfs.MiniDFSCluster.DataNodeProperties
import org.apache.hadoop.metrics2.impl.MetricsCollectorImpl
import org.apache.hadoop.metrics2.lib.DefaultMetricsSystem

/** A name node and three data nodes on free ports of this machine, in this process.
  *
  * @param folder
  *   what they store; emptied first
  */
final class Hdfs(folder: File) {
  private val stopped = mutable.Map.empty[Int, DataNodeProperties]

  private val cluster = {
    val conf = new Configuration
    // As users' clusters have it; also while one of the three is gone.
    conf.setInt("dfs.replication", 3)
    conf.set(MiniDFSCluster.HDFS_MINIDFS_BASEDIR, folder.getPath)
    // A data node that is gone is known to be so after seconds instead of ten minutes.
    conf.setInt("dfs.namenode.heartbeat.recheck-interval", 1000)
    conf.setInt("dfs.heartbeat.interval", 1)
    new MiniDFSCluster.Builder(conf).numDataNodes(3).build()
  }
  cluster.waitActive()

  def url: String = cluster.getURI.toString

  def stopDataNode(number: Int): Unit = {
    val name = dataNodes(number)
    stopped(number) = cluster.stopDataNode(name)
  }

  /** With the blocks that it had, at the same port. */
  def startDataNode(number: Int): Unit = {
    cluster.restartDataNode(stopped.remove(number).get, true)
    cluster.waitActive()
  }

  /** At the same port; returns when it has left safe mode. */
  def restartNameNode(): Unit = {
    cluster.restartNameNode(true)
    cluster.waitClusterUp()
  }

  /** Names in a folder; none if there is no such folder. */
  def names(path: String): Seq[String] =
    try fileSystem.listStatus(new Path(path)).toSeq.map(_.getPath.getName)
    catch { case _: FileNotFoundException => Nil }

  def exists(path: String): Boolean = fileSystem.exists(new Path(path))

  def copy(path: String, to: File): Unit = {
    FileUtil.copy(fileSystem, new Path(path), to, false, fileSystem.getConf)
    ()
  }

  /** How often each method of the name node was called since it was last started. */
  def calls: Seq[(String, Long)] = {
    val source = s"RpcDetailedActivityForPort${cluster.getNameNodePort}"
    val collector = new MetricsCollectorImpl
    DefaultMetricsSystem.instance().getSource(source).getMetrics(collector, true)
    val suffix = "NumOps"
    collector.getRecords.asScala.toSeq
      .flatMap(_.metrics().asScala)
      .filter(it => it.name().endsWith(suffix) && it.value().longValue > 0)
      .map(it => it.name().stripSuffix(suffix) -> it.value().longValue)
      .sortBy(_._1)
  }

  def close(): Unit = cluster.shutdown()

  private def fileSystem = cluster.getFileSystem

  private val dataNodes = cluster.getDataNodes.asScala.map(_.getDatanodeId.getXferAddr).toIndexedSeq
}

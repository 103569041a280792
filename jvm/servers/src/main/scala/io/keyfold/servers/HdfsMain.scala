package io.keyfold.servers

import java.io.File

/** An HDFS of three data nodes that obeys [[Commands]]; its address is the URL.
  *
  *   - `stop N`, `start N`: a data node, by its number from 0
  *   - `restart`: the name node; returns when it has left safe mode
  *   - `list PATH`: names in a folder, with a tab between; none if there is no folder
  *   - `exists PATH`: true or false
  *   - `copy PATH FOLDER`: all files of a folder of HDFS to a folder of the local disk
  *   - `calls`: how often each method of the name node was called since it was started
  */
object HdfsMain {

  /** @param args
    *   the folder that blocks and names are kept in
    */
  def main(args: Array[String]): Unit = {
    val hdfs = new Hdfs(new File(args(0)))
    try Commands.obey(hdfs.url)(answers(hdfs))
    finally hdfs.close()
    // Threads of Hadoop's would keep the process.
    sys.exit(0)
  }

  private def answers(hdfs: Hdfs): PartialFunction[List[String], String] = {
    case List("stop", number)       => hdfs.stopDataNode(number.toInt); ""
    case List("start", number)      => hdfs.startDataNode(number.toInt); ""
    case List("restart")            => hdfs.restartNameNode(); ""
    case List("list", path)         => hdfs.names(path).mkString("\t")
    case List("exists", path)       => hdfs.exists(path).toString
    case List("copy", path, folder) => hdfs.copy(path, new File(folder)); ""
    case List("calls") => hdfs.calls.map { case (it, count) => s"$it=$count" }.mkString("\t")
  }
}

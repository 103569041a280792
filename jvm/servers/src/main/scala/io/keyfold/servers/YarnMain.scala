package io.keyfold.servers

import java.io.File

/** A YARN of one node that obeys [[Commands]]; its address is the folder of its configuration.
  *
  *   - `pending`: how many applications and how many containers are waited for
  */
object YarnMain {

  /** @param args
    *   the folder that containers have their files and logs in
    */
  def main(args: Array[String]): Unit = {
    val yarn = new Yarn(new File(args(0)))
    try
      Commands.obey(yarn.configuration.getPath) { case List("pending") =>
        val (applications, containers) = yarn.pending
        s"$applications $containers"
      }
    finally yarn.close()
    // Threads of Hadoop's would keep the process.
    sys.exit(0)
  }
}

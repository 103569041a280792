import java.io.File

import sbt.io.IO

/** The file that `java @file` takes its arguments from. */
object JavaArgs {

  /** @return `file` */
  def write(file: File, classPath: Seq[File], options: Seq[String]): File = {
    val arguments = Seq("-cp", path(classPath)) ++ options
    IO.writeLines(file, arguments.map(argument => "\"" + argument + "\""))
    file
  }

  /** Files as a class path names them. */
  def path(files: Seq[File]): String = files.mkString(File.pathSeparator)
}

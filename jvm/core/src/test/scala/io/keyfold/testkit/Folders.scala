package io.keyfold.testkit

import java.nio.charset.StandardCharsets.ISO_8859_1
import java.nio.file.{Files, NoSuchFileException, Path, StandardCopyOption}

import scala.jdk.CollectionConverters._
import scala.util.Using

object Folders {

  /** What two runs of one change leave alike: the paths, the texts of Spark's logs, without the ids
    * that each run draws, and the lengths of plans. Temporary files, which nobody reads, are left
    * out.
    */
  def outcome(folder: Path): Map[String, String] =
    Using
      .resource(Files.walk(folder))(_.iterator.asScala.toList)
      .filter(file => Files.isRegularFile(file) && !file.getFileName.toString.startsWith("."))
      .map { file =>
        val path = folder.relativize(file).toString
        val content =
          if (path.startsWith("state/")) ""
          else if (path.startsWith("keyfold/")) Files.size(file).toString
          else withoutIds(Files.readString(file, ISO_8859_1))
        withoutIds(path) -> content
      }
      .groupMap(_._1)(_._2)
      .map { case (path, contents) => path -> contents.sorted.mkString(" ") }

  private def withoutIds(text: String) = text.replaceAll("[0-9a-f]{8}-[0-9a-f-]{27}", "*")

  /** Copies what is in a folder into another, over files that are there. Maintenance may still run:
    * a file that goes meanwhile was temporary, or is no longer needed.
    */
  def copy(from: Path, to: Path): Unit =
    Using.resource(Files.walk(from))(_.iterator.asScala.toList).foreach { path =>
      val target = to.resolve(from.relativize(path).toString)
      if (Files.isDirectory(path)) Files.createDirectories(target)
      else
        try Files.copy(path, target, StandardCopyOption.REPLACE_EXISTING)
        catch { case _: NoSuchFileException => () }
    }
}

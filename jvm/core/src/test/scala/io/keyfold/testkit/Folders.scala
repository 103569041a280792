package io.keyfold.testkit

import java.nio.charset.StandardCharsets.ISO_8859_1
import java.nio.file.{Files, Path, StandardCopyOption}

import scala.jdk.CollectionConverters._
import scala.util.Using

object Folders {

  /** What two runs of one change leave alike: the paths, and the texts of Spark's logs, without the
    * ids that each run draws. Other files are known by their lengths.
    */
  def outcome(folder: Path): Map[String, String] =
    Using
      .resource(Files.walk(folder))(_.iterator.asScala.toList)
      .filter(Files.isRegularFile(_))
      .map { file =>
        val path = folder.relativize(file).toString
        val content =
          if (path.startsWith("state/") || path.startsWith("keyfold/")) Files.size(file).toString
          else withoutIds(Files.readString(file, ISO_8859_1))
        withoutIds(path) -> content
      }
      .groupMap(_._1)(_._2)
      .map { case (path, contents) => path -> contents.sorted.mkString(" ") }

  private def withoutIds(text: String) = text.replaceAll("[0-9a-f]{8}-[0-9a-f-]{27}", "*")

  /** Copies what is in a folder into another, over files that are there. */
  def copy(from: Path, to: Path): Unit =
    Using.resource(Files.walk(from))(_.iterator.asScala.toList).foreach { path =>
      val target = to.resolve(from.relativize(path).toString)
      if (Files.isDirectory(path)) Files.createDirectories(target)
      else Files.copy(path, target, StandardCopyOption.REPLACE_EXISTING)
    }
}

package io.keyfold.testkit

import java.nio.file.{Files, Path, StandardCopyOption}

import scala.jdk.CollectionConverters._
import scala.util.Using

object Folders {

  /** Copies what is in a folder into another, over files that are there. */
  def copy(from: Path, to: Path): Unit =
    Using.resource(Files.walk(from))(_.iterator.asScala.toList).foreach { path =>
      val target = to.resolve(from.relativize(path).toString)
      if (Files.isDirectory(path)) Files.createDirectories(target)
      else Files.copy(path, target, StandardCopyOption.REPLACE_EXISTING)
    }
}

package io.keyfold.testkit

import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, Path}
import java.security.MessageDigest
import java.util.HexFormat

import scala.jdk.CollectionConverters._
import scala.util.Using

/** A hash of everything a result depends on: a result with the same key needs no second run. */
object TestedCode {

  /** @param folders
    *   classes and resources under test, taken by content
    * @param others
    *   versions, names and options
    */
  def key(folders: Seq[Path], others: Seq[String]): String = {
    val digest = MessageDigest.getInstance("SHA-256")
    folders.filter(Files.exists(_)).foreach { folder =>
      filesOf(folder).foreach { file =>
        digest.update(folder.relativize(file).toString.getBytes(UTF_8))
        digest.update(Files.readAllBytes(file))
      }
    }
    others.foreach(other => digest.update(s"\n$other".getBytes(UTF_8)))
    HexFormat.of.formatHex(digest.digest).take(16)
  }

  private def filesOf(folder: Path): Seq[Path] =
    Using
      .resource(Files.walk(folder))(_.iterator.asScala.filter(Files.isRegularFile(_)).toSeq)
      .sortBy(_.toString)
}

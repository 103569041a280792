package io.keyfold.bench

import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, Path}
import java.nio.file.StandardOpenOption.{APPEND, CREATE}

import scala.jdk.CollectionConverters._

/** All results there are, the newest last; a line is added when a cell has ended, so that a run
  * that was stopped goes on where it was.
  */
final class ResultFile(file: Path) {
  def read(): Seq[Result] =
    if (!Files.exists(file)) Nil
    else Files.readAllLines(file, UTF_8).asScala.toSeq.filter(_.nonEmpty).map(Result.ofLine)

  def append(result: Result): Unit = {
    Files.createDirectories(file.getParent)
    Files.write(file, (Result.toLine(result) + "\n").getBytes(UTF_8), CREATE, APPEND)
    ()
  }
}

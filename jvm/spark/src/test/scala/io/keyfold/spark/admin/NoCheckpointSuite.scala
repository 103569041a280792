package io.keyfold.spark.admin

import java.nio.file.Files

import scala.util.Try

import io.keyfold.spark.{LocalSpark, QuietLogs}
import org.scalatest.funsuite.AnyFunSuite

/** Commands that are given a wrong path. */
class NoCheckpointSuite extends AnyFunSuite with QuietLogs with LocalSpark {
  private val commands = Seq[(String, String => Any)](
    "rescale" -> (AdminApi.rescale(spark, _, 3, dryRun = false)),
    "rollback" -> (AdminApi.rollback(spark, _, 1, null, dryRun = false)),
    "clone" -> (path => AdminApi.cloneCheckpoint(spark, path, s"$path-copy", -1, dryRun = false)),
    "migrate" -> (AdminApi.migrate(spark, _, dryRun = false)),
    "undo of a migration" -> (AdminApi.undoMigration(spark, _, dryRun = false)),
    "vacuum" -> (AdminApi.vacuum(spark, _, "state/0/0/1.delta", 0, dryRun = false))
  )

  for ((name, run) <- commands)
    test(s"$name: where no checkpoint is, none is begun") {
      val folder = Files.createTempDirectory("keyfold-none")
      Try(run(folder.resolve("misspelt").toString))
      assert(folder.toFile.list.isEmpty)
    }
}

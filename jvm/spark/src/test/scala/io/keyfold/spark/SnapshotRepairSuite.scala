package io.keyfold.spark

import java.nio.file.Files

import org.apache.spark.SparkException
import org.scalatest.funsuite.AnyFunSuite

/** The settings for the repair of snapshots count with every line of Spark, of which not all have
  * them themselves.
  */
class SnapshotRepairSuite extends AnyFunSuite with QuietLogs {
  import ProviderFixture.{entry, inFolder}

  private def setting(name: String) = s"spark.sql.streaming.stateStore.autoSnapshotRepair.$name"

  /** Six versions of which the newest snapshot is damaged; returns how many deltas are after the
    * snapshot before it.
    */
  private def damage(f: ProviderFixture): Int = {
    val provider = f.provider()
    for (v <- 1 to 6) {
      val store = provider.getStore(v - 1L)
      store.put(f.key("k", v.toLong), f.value(v.toLong))
      store.commit()
      provider.doMaintenance()
    }
    provider.close()
    val snapshots = f.files.filter(_.endsWith(".snapshot")).map(_.takeWhile(_ != '.').toInt).sorted
    val newest = f.root.resolve(s"state/0/0/${snapshots.last}.snapshot")
    Files.write(newest, Files.readAllBytes(newest).dropRight(1))
    6 - snapshots.init.lastOption.getOrElse(0)
  }

  private def read(f: ProviderFixture, confs: (String, String)*) =
    f.rows(f.provider(confs.toMap).getReadStore(6).iterator())

  test("a snapshot that cannot be read is replaced by default") {
    inFolder() { f =>
      damage(f)
      assert(read(f) == (1 to 6).map(v => entry("k", v.toLong, v.toLong)).toMap)
    }
  }

  test("without repair the error names the setting") {
    inFolder() { f =>
      damage(f)
      val error = intercept[SparkException](read(f, setting("enabled") -> "false"))
      assert(error.getMessage.contains("KEYFOLD_VERSION_UNREADABLE"))
      assert(error.getMessage.contains(setting("enabled")))
    }
  }

  test("no more deltas are read than is set") {
    inFolder() { f =>
      val deltas = damage(f)
      assert(read(f, setting("maxChangeFileReplay") -> deltas.toString).size == 6)
      val less = setting("maxChangeFileReplay") -> (deltas - 1).toString
      val error = intercept[SparkException](read(f, less))
      assert(error.getMessage.contains(setting("maxChangeFileReplay")))
    }
  }

  test("a value that cannot be understood is refused") {
    inFolder() { f =>
      for (name <- Seq("enabled", "numFailuresBeforeActivating", "maxChangeFileReplay")) {
        val error = intercept[RuntimeException](f.provider(Map(setting(name) -> "some")))
        assert(error.getMessage.contains(setting(name)))
      }
    }
  }
}

package io.keyfold.spark.state

import org.apache.spark.SparkConf
import org.scalatest.funsuite.AnyFunSuite

/** How much memory stores take if nobody says. */
class StateMemorySuite extends AnyFunSuite {
  private val GiB = 1L << 30
  private val MiB = 1L << 20
  private val machine = 64 * GiB

  private def bytes(heap: Long, settings: (String, String)*) =
    StateMemory.defaultBytes(Some(new SparkConf(false).setAll(settings)), heap, machine)

  for (master <- Seq("local", "local[8]", "local[2,3]", "local[*]"))
    test(s"$master has one JVM: a quarter of the machine")(
      assert(bytes(GiB, "spark.master" -> master) == 16 * GiB)
    )

  test("without Spark there is one JVM, too") {
    assert(StateMemory.defaultBytes(None, GiB, machine) == 16 * GiB)
  }

  for (master <- Seq("local-cluster[4,2,12288]", "spark://host:7077"))
    test(s"$master: executors that fill a machine take a quarter of it together") {
      for (executors <- Seq(1, 4, 60)) {
        val each = bytes(machine / executors, "spark.master" -> master)
        assert(each * executors <= 16 * GiB && each * executors > 15 * GiB)
      }
      assert(bytes(12 * GiB, "spark.master" -> master) == 3 * GiB)
      assert(bytes(2 * machine, "spark.master" -> master) == 16 * GiB, "nobody has that heap")
    }

  for (master <- Seq("yarn", "k8s://https://host:443")) {
    def overhead(settings: (String, String)*) =
      bytes(8 * GiB, (("spark.master" -> master) +: settings): _*)

    test(s"$master: half of what the executor may take beside its heap, whatever the machine has") {
      assert(overhead("spark.executor.memory" -> "1g") == 192 * MiB, "half of the least")
      assert(overhead("spark.executor.memory" -> "20g") == 1 * GiB, "half of a tenth")
      val memory = "spark.executor.memory" -> "20g"
      assert(overhead(memory, "spark.executor.memoryOverhead" -> "6g") == 3 * GiB)
      assert(overhead(memory, "spark.executor.memoryOverheadFactor" -> "0.4") == 4 * GiB)
    }
  }
}

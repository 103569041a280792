package io.keyfold.group

import io.keyfold.group.FlinkAssignment.keyGroup
import org.scalatest.funsuite.AnyFunSuite

class FlinkAssignmentSuite extends AnyFunSuite {

  // Keys and groups of Flink's published walk-through, at a max parallelism of 128.
  private val published = Seq(
    "device-1" -> 3,
    "device-19" -> 14,
    "device-433" -> 35,
    "device-62" -> 62,
    "device-360" -> 67,
    "device-53" -> 94,
    "device-256" -> 112,
    "device-222" -> 120
  )

  test("keys come to the groups that Flink gives them") {
    for ((key, group) <- published) assert(keyGroup(key.hashCode, 128) == group, key)
  }

  test("every hash code has a group, the extreme ones too") {
    for (code <- Seq(0, 1, -1, Int.MaxValue, Int.MinValue) ++ (1 to 10000).map(_ * 0x9e3779b1))
      assert((0 until 7).contains(keyGroup(code, 7)))
  }

  test("what is out of bounds is refused by name") {
    for (max <- Seq(0, 32769)) {
      val error = intercept[IllegalArgumentException](keyGroup(1, max))
      assert(error.getMessage.contains(s"max parallelism: $max"))
    }
  }
}

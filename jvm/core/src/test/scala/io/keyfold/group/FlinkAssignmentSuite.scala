package io.keyfold.group

import org.scalatest.funsuite.AnyFunSuite

class FlinkAssignmentSuite extends AnyFunSuite {

  // Keys, groups and operators of Flink's published walk-through, at a max parallelism of 128.
  private val published = Seq(
    ("device-1", 3, 0, 0),
    ("device-19", 14, 1, 0),
    ("device-433", 35, 3, 1),
    ("device-62", 62, 5, 2),
    ("device-360", 67, 6, 3),
    ("device-53", 94, 8, 4),
    ("device-256", 112, 10, 5),
    ("device-222", 120, 11, 5)
  )

  test("keys come to the groups and operators that Flink gives them") {
    val assignment = new FlinkAssignment(128)
    for ((key, group, at12, at6) <- published) {
      assert(assignment.keyGroup(key.hashCode) == group, key)
      assert(assignment.operatorOf(group, 12) == at12, key)
      assert(assignment.operatorOf(group, 6) == at6, key)
    }
  }

  test("every hash code has a group, the extreme ones too") {
    val assignment = new FlinkAssignment(7)
    for (code <- Seq(0, 1, -1, Int.MaxValue, Int.MinValue) ++ (1 to 10000).map(_ * 0x9e3779b1))
      assert((0 until 7).contains(assignment.keyGroup(code)))
  }

  test("operators have contiguous ranges that share the groups out, none empty") {
    for (max <- Seq(1, 2, 7, 128, 1000, FlinkAssignment.Limit)) {
      val assignment = new FlinkAssignment(max)
      for (parallelism <- Seq(1, 2, 3, 12, 127, max).filter(_ <= max)) {
        val ranges = (0 until parallelism).map(assignment.keyGroupsOf(_, parallelism))
        assert(ranges.forall(_.nonEmpty))
        assert(ranges.flatten == (0 until max))
        for ((range, operator) <- ranges.zipWithIndex)
          assert(range.forall(assignment.operatorOf(_, parallelism) == operator))
      }
    }
  }

  test("what is out of bounds is refused by name") {
    def refused(what: String)(body: => Any) =
      assert(intercept[IllegalArgumentException](body).getMessage.contains(what))
    refused("max parallelism: 0")(new FlinkAssignment(0))
    refused("max parallelism: 32769")(new FlinkAssignment(32769))
    val assignment = new FlinkAssignment(128)
    refused("parallelism: 129")(assignment.operatorOf(0, 129))
    refused("parallelism: 0")(assignment.keyGroupsOf(0, 0))
    refused("key group: 128")(assignment.operatorOf(128, 12))
    refused("key group: -1")(assignment.operatorOf(-1, 12))
    refused("operator index: 12")(assignment.keyGroupsOf(12, 12))
  }
}

package io.keyfold.group

import io.keyfold.testkit.SeededChecks
import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite

class KeyGroupsSuite extends AnyFunSuite with SeededChecks {
  private val anyHash = Gen.oneOf(
    Gen.choose(Int.MinValue, Int.MaxValue),
    Gen.oneOf(Int.MinValue, -1, 0, 1, Int.MaxValue)
  )

  test("the default count is the partitions times the smallest factor that reaches 4096") {
    assert(KeyGroups.defaultCount(200) == 4800)
    assert(KeyGroups.defaultCount(8) == 5760)
    assert(KeyGroups.defaultCount(1) == 5040)
    assert(KeyGroups.defaultCount(2) == 5040)
    assert(KeyGroups.defaultCount(3) == 7560)
    assert(KeyGroups.defaultCount(6) == 4320)
    assert(KeyGroups.defaultCount(2048) == 4096)
    assert(KeyGroups.defaultCount(4095) == 8190)
    assert(KeyGroups.defaultCount(4096) == 4096)
  }

  test("the default count of an unknown number of partitions is that of one") {
    assert(KeyGroups.defaultCount(0) == 5040)
  }

  test("the default count is the number of partitions where that is large by itself") {
    assert(KeyGroups.defaultCount(32768) == 32768)
    assert(KeyGroups.defaultCount(40001) == 40001)
    assert(KeyGroups.defaultCount(Int.MaxValue) == Int.MaxValue)
  }

  test("every default count is a multiple of the partitions, between 4096 and the cap") {
    for (partitions <- 1 to 33000) {
      val groups = KeyGroups.defaultCount(partitions)
      assert(groups % partitions == 0, partitions)
      assert(groups >= 4096, partitions)
      assert(groups <= math.max(partitions, 32768), partitions)
    }
  }

  test("negative hashes have groups and partitions from 0 on") {
    assert(KeyGroups.groupOf(-1, 24) == 23)
    assert(KeyGroups.groupOf(-24, 24) == 0)
    assert(KeyGroups.groupOf(Int.MinValue, 24) == 16)
    assert(KeyGroups.partitionOf(-1, 4) == 3)
    assert(KeyGroups.partitionOf(-4, 4) == 0)
    assert(KeyGroups.partitionOf(Int.MinValue, 5) == 2)
  }

  test("the partition of a group is that of its rows whenever N divides G") {
    val cases = for {
      partitions <- Gen.choose(1, 5000)
      factor <- Gen.choose(1, 5000)
      hash <- anyHash
    } yield (hash, partitions, partitions * factor)
    forEach(cases, 2000) { case (hash, partitions, groups) =>
      val group = KeyGroups.groupOf(hash, groups)
      assert(KeyGroups.partitionOf(group, partitions) == KeyGroups.partitionOf(hash, partitions))
    }
  }
}

package io.keyfold.group

import io.keyfold.testkit.SeededChecks
import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite

class GroupOrderSuite extends AnyFunSuite with SeededChecks {

  /** N, and G as a multiple of it. */
  private val dividing = for {
    partitions <- Gen.choose(1, 60)
    factor <- Gen.choose(1, 240)
  } yield (partitions, partitions * factor)

  private def owned(partition: Int, partitions: Int, groups: Int) =
    Range(partition, groups, partitions).toArray

  test("the groups of partition 3 of 4 with 24 groups are in the order worked out by hand") {
    // k = 0 to 5, sorted by (k mod 2, k div 2 mod 3): k = 0, 2, 4, 1, 3, 5.
    val order = new GroupOrder(4, 24)
    assert(order.sorted(Array(3, 7, 11, 15, 19, 23)).toSeq == Seq(3, 11, 19, 7, 15, 23))
    assert(Seq(3, 11, 19, 7, 15, 23).map(order.rank) == Seq(0, 1, 2, 3, 4, 5))
  }

  test("a single partition with 12 groups has them in the order worked out by hand") {
    // Factors 2, 2, 3: by (k mod 2, k div 2 mod 2, k div 4 mod 3).
    val order = new GroupOrder(1, 12)
    assert(order.sorted((0 until 12).toArray).toSeq == Seq(0, 4, 8, 2, 6, 10, 1, 5, 9, 3, 7, 11))
  }

  test("a split is where the first factor of G / N parts the groups, and nowhere else") {
    val order = new GroupOrder(4, 24)
    val sorted = Seq(3, 11, 19, 7, 15, 23)
    val splits = sorted.sliding(2).map(two => order.isSplitBetween(two(0), two(1))).toSeq
    assert(splits == Seq(false, false, true, false, false))
    assert(!new GroupOrder(7, 7).isSplitBetween(6, 6))
  }

  test("all groups are ordered by the factors of G when N does not divide G") {
    // Factors of 6 are 2 and 3: by (g mod 2, g div 2 mod 3).
    assert(new GroupOrder(5, 6).sorted((0 until 6).toArray).toSeq == Seq(0, 2, 4, 1, 3, 5))
    assert(new GroupOrder(12, 6).sorted((0 until 6).toArray).toSeq == Seq(0, 2, 4, 1, 3, 5))
  }

  test("all groups are ordered by the factors of G when N is not known") {
    assert(new GroupOrder(0, 6).sorted((0 until 6).toArray).toSeq == Seq(0, 2, 4, 1, 3, 5))
  }

  test("a partition's only group has rank 0") {
    assert(new GroupOrder(7, 7).rank(6) == 0)
  }

  test("ranks number a partition's groups without a gap") {
    forEach(dividing) { case (partitions, groups) =>
      val order = new GroupOrder(partitions, groups)
      for (partition <- Set(0, partitions / 2, partitions - 1)) {
        val ranks = owned(partition, partitions, groups).map(order.rank).sorted
        assert(ranks.toSeq == (0 until groups / partitions))
      }
    }
  }

  test("what each partition takes lies together when N grows by the first factors of G / N") {
    forEach(dividing) { case (partitions, groups) =>
      val order = new GroupOrder(partitions, groups)
      val sorted = order.sorted(owned(partitions - 1, partitions, groups))
      val splits = GroupOrder.primeFactors(groups / partitions).scanLeft(partitions)(_ * _)
      for (split <- splits) {
        val takers = sorted.map(_ % split)
        val changes = takers.indices.drop(1).count(i => takers(i) != takers(i - 1))
        assert(changes == split / partitions - 1, s"for a split to $split")
      }
    }
  }

  test("sorting keeps every group") {
    forEach(Gen.listOf(Gen.choose(0, 239))) { groups =>
      assert(new GroupOrder(1, 240).sorted(groups.toArray).sorted.toSeq == groups.sorted)
    }
  }

  test("prime factors are those worked out by hand, ascending") {
    assert(GroupOrder.primeFactors(1).toSeq == Seq())
    assert(GroupOrder.primeFactors(2).toSeq == Seq(2))
    assert(GroupOrder.primeFactors(49).toSeq == Seq(7, 7))
    assert(GroupOrder.primeFactors(5760).toSeq == Seq(2, 2, 2, 2, 2, 2, 2, 3, 3, 5))
    assert(GroupOrder.primeFactors(2 * 3 * 1009).toSeq == Seq(2, 3, 1009))
    assert(GroupOrder.primeFactors(Int.MaxValue).toSeq == Seq(Int.MaxValue)) // a Mersenne prime
  }
}

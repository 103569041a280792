package io.keyfold.mem.arena

import scala.collection.mutable

import io.keyfold.testkit.SeededChecks
import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite

class PageNumbersSuite extends AnyFunSuite with SeededChecks {
  test("numbers come in order, and the lowest hole that is long enough comes first") {
    val numbers = new PageNumbers(1, 100)
    assert(Seq(1, 3, 1, 2, 1).map(numbers.take) == Seq(1, 2, 5, 6, 8))
    numbers.give(2, 3)
    numbers.give(6, 2)
    assert(Seq(2, 2, 1, 1).map(numbers.take) == Seq(2, 6, 4, 9))
  }

  test("neighbouring holes are one") {
    val numbers = new PageNumbers(1, 9)
    for (_ <- 1 to 8) numbers.take(1)
    for (n <- Seq(4, 2, 3)) numbers.give(n, 1)
    assert(numbers.take(4) == 0)
    assert(numbers.take(3) == 2)
  }

  test("when they are used up there is 0, until one is given back") {
    val numbers = new PageNumbers(5, 8)
    assert(Seq(1, 3, 2, 1).map(numbers.take) == Seq(5, 0, 6, 0))
    numbers.give(6, 2)
    assert(Seq(1, 2, 1).map(numbers.take) == Seq(6, 0, 7))
  }

  test("what is taken is the lowest free run, whatever was taken and given before") {
    forEach(Gen.nonEmptyListOf(Gen.zip(Gen.choose(1, 8), Gen.prob(0.6), Gen.posNum[Int]))) { ops =>
      val numbers = new PageNumbers(1, 120)
      val runs = mutable.Buffer.empty[(Int, Int)]
      for ((count, take, which) <- ops) {
        if (take || runs.isEmpty) {
          val used = runs.flatMap { case (start, n) => start until start + n }.toSet
          val expected =
            (1 to 120 - count).find(s => !(s until s + count).exists(used)).getOrElse(0)
          assert(numbers.take(count) == expected)
          if (expected != 0) runs += ((expected, count))
        } else {
          val (start, n) = runs.remove(which % runs.size)
          numbers.give(start, n)
        }
      }
    }
  }
}

package io.keyfold.mem

import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

class HashFilterSuite extends AnyFunSuite {
  for (count <- Seq(0, 1, 5, 6, 1000, 300000)) {
    test(s"a filter of $count hashes lets all of them pass, and few others") {
      val random = new Random(count)
      val hashes = Set.fill(count)(random.nextInt())
      val filter = HashFilter.of(hashes.toArray)
      assert(hashes.forall(HashFilter.mayHave(filter, _)))
      val others = Seq.fill(100000)(random.nextInt()).filterNot(hashes)
      // 1.5 % by its theory.
      assert(others.count(HashFilter.mayHave(filter, _)) < others.size / 50)
    }
  }

  test("hashes that differ in a few bits only do not make it worse") {
    for (stride <- Seq(1, 4, 1 << 10, 1 << 19)) {
      val filter = HashFilter.of(Array.tabulate(4000)(_ * stride))
      val others = (4000 until 8000).map(_ * stride)
      assert(others.count(HashFilter.mayHave(filter, _)) < others.size / 50, stride)
    }
  }
}

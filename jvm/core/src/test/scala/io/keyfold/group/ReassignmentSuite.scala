package io.keyfold.group

import io.keyfold.testkit.SeededChecks
import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite

/** What a rescale takes from where, against the hashes themselves. */
class ReassignmentSuite extends AnyFunSuite with SeededChecks {

  /** Numbers of partitions in turn, and of key groups: often a multiple of the first, not always.
    */
  private def layouts(changes: Int) = for {
    partitions <- Gen.listOfN(changes + 1, Gen.choose(1, 30))
    factor <- Gen.choose(1, 40)
    groups <- Gen.oneOf(partitions.head * factor, partitions.head * factor, factor)
  } yield (partitions, groups)

  private def pmod(hash: Int, n: Int) = Math.floorMod(hash, n)

  private def hashes(seed: Int): Seq[Int] = {
    val random = new scala.util.Random(seed)
    (-70 to 70) ++ Seq(Int.MinValue, Int.MaxValue) ++ Seq.fill(100)(random.nextInt())
  }

  private def has(selection: Option[Selection], hash: Int, groups: Int) =
    selection.exists(s => s.hasGroup(pmod(hash, groups)) && s.hasRow(hash))

  test("each row of an old partition comes to one new one, where its hash says") {
    forEach(layouts(1), 300) { case (partitions, groups) =>
      val (from, to) = (partitions.head, partitions.last)
      val move = new Reassignment(from, to, groups)
      for (hash <- hashes(groups); source = pmod(hash, from)) {
        val takers = (0 until to).filter { q =>
          move.sources(q).contains(source) && has(move.taken(source, q), hash, groups)
        }
        assert(takers == Seq(pmod(hash, to)), s"$hash from $from to $to, $groups groups")
      }
    }
  }

  test("selections of any moduli, as a file may say, meet at once") {
    val start = System.nanoTime
    val most = Int.MaxValue
    val taken = Selection(1, 0, most, most - 1)
    assert(taken.and(Selection(1, 0, 0, 0)).contains(taken))
    val narrow = Selection(46337, 46336, 46339, 46338)
    assert(narrow.and(Selection(1, 0, 46337, 46336)).nonEmpty)
    assert(System.nanoTime - start < 2000000000L)
  }

  test("an old partition is a source exactly if some hash is in both") {
    for (from <- 1 to 12; to <- 1 to 12) {
      val move = new Reassignment(from, to, from)
      val pairs = (0 until from * to).map(h => (h % from, h % to)).toSet
      for (q <- 0 until to) {
        assert(move.sources(q) == (0 until from).filter(p => pairs((p, q))), (from, to, q))
      }
    }
  }

  test("no row is looked at when the new number of partitions divides the key groups") {
    forEach(layouts(1), 300) { case (partitions, groups) =>
      val (from, to) = (partitions.head, partitions.last)
      val move = new Reassignment(from, to, groups)
      for (q <- 0 until to; p <- move.sources(q); taken <- move.taken(p, q)) {
        assert((taken.rowModulus == 0) == (groups % to == 0))
        assert(groups % taken.groupModulus == 0)
      }
    }
  }

  test("taken from what was taken: each row of the first files comes to one partition, the right") {
    forEach(layouts(3), 300) { case (partitions, groups) =>
      for (hash <- hashes(groups)) {
        val takers = partitions.tail.foldLeft(Seq(Option(Selection.All) -> partitions.head)) {
          case (found, to) =>
            for {
              (selection, _) <- found
              q <- 0 until to
              next = selection.flatMap(_ and Selection.ofPartition(q, to, groups))
              if has(next, hash, groups)
            } yield next -> q
        }
        assert(takers.map(_._2) == Seq(pmod(hash, partitions.last)), s"$hash $partitions $groups")
      }
    }
  }

  test("what no row can be in is nothing") {
    assert((Selection(4, 1, 0, 0) and Selection(6, 2, 0, 0)).isEmpty)
    assert((Selection(4, 1, 0, 0) and Selection(1, 0, 6, 2)).isEmpty)
    assert((Selection(1, 0, 10, 3) and Selection(1, 0, 15, 4)).isEmpty)
    assert((Selection(4, 1, 0, 0) and Selection(6, 3, 0, 0)) == Some(Selection(12, 9, 0, 0)))
  }

  test("a modulus that does not fit is refused") {
    intercept[ArithmeticException](Selection(1, 0, 65537, 3) and Selection(1, 0, 65539, 3))
  }
}

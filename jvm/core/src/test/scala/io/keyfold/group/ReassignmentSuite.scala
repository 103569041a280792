package io.keyfold.group

import io.keyfold.testkit.SeededChecks
import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite

/** What a rescale takes from where, against the hashes themselves. */
class ReassignmentSuite extends AnyFunSuite with SeededChecks {

  /** Two numbers of partitions, and one of key groups: often a multiple of the first, not always.
    */
  private val layouts = for {
    from <- Gen.choose(1, 30)
    to <- Gen.choose(1, 30)
    factor <- Gen.choose(1, 40)
    groups <- Gen.oneOf(from * factor, from * factor, factor)
  } yield (from, to, groups)

  private def pmod(hash: Int, n: Int) = Math.floorMod(hash, n)

  private def hashes(seed: Int): Seq[Int] = {
    val random = new scala.util.Random(seed)
    (-70 to 70) ++ Seq(Int.MinValue, Int.MaxValue) ++ Seq.fill(100)(random.nextInt())
  }

  private def has(rows: PartitionSet, hash: Int, groups: Int) =
    rows.hasGroup(pmod(hash, groups)) && rows.hasRow(hash)

  test("each row of an old partition comes to one new one of its class, where its hash says") {
    forEach(layouts, 300) { case (from, to, groups) =>
      val move = new Reassignment(from, to, groups)
      for (hash <- hashes(groups); source = pmod(hash, from)) {
        val takers = (0 until to).filter { q =>
          move.classOf(q) == move.classOf(source) &&
          has(new PartitionSet(to, groups, Seq(q)), hash, groups)
        }
        assert(takers == Seq(pmod(hash, to)), s"$hash from $from to $to, $groups groups")
      }
    }
  }

  test("an old and a new partition are of one class exactly if some hash is in both") {
    for (from <- 1 to 12; to <- 1 to 12) {
      val move = new Reassignment(from, to, from)
      val pairs = (0 until from * to).map(h => (h % from, h % to)).toSet
      for (p <- 0 until from; q <- 0 until to) {
        assert((move.classOf(p) == move.classOf(q)) == pairs((p, q)), (from, to, p, q))
      }
    }
  }

  test("no row is looked at when the new number of partitions divides the key groups") {
    forEach(layouts, 300) { case (_, to, groups) =>
      for (q <- 0 until to) {
        val taken = new PartitionSet(to, groups, Seq(q))
        assert((0 until to).forall(taken.hasRow) == (groups % to == 0))
      }
    }
  }

  test("a new partition takes its share of the key groups of an old one of its class") {
    forEach(layouts, 300) { case (from, to, groups) =>
      val move = new Reassignment(from, to, groups)
      for (p <- 0 until from; q <- 0 until to if move.classOf(p) == move.classOf(q)) {
        val old = (0 until groups).filter(mayHold(_, groups, p, from))
        val taken = old.count(new PartitionSet(to, groups, Seq(q)).hasGroup)
        assert(taken == math.round(old.length * move.share), (from, to, groups, p, q))
      }
    }
  }

  test("a set of partitions has their rows, and all key groups that may hold them") {
    forEach(Gen.zip(layouts, Gen.listOf(Gen.choose(0, 29))), 300) { case ((of, _, groups), some) =>
      val members = some.filter(_ < of)
      val set = new PartitionSet(of, groups, members)
      for (hash <- hashes(groups))
        assert(has(set, hash, groups) == members.contains(pmod(hash, of)))
      for (g <- 0 until groups)
        assert(set.hasGroup(g) == members.exists(mayHold(g, groups, _, of)))
    }
  }

  /** Whether a hash of a key group goes to a partition: hashes of a group are `groups` apart. */
  private def mayHold(group: Int, groups: Int, partition: Int, partitions: Int) =
    (0 until partitions).exists(n => (group + n.toLong * groups) % partitions == partition)
}

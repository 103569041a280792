package io.keyfold.rescale

import io.keyfold.format.{FileKind, PlanName}
import io.keyfold.store.StoreFixture
import io.keyfold.testkit.SeededChecks
import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite

/** Random lives of a store whose number of partitions changes, against plain maps: each version
  * that is to be retained has the right rows, each in one partition, the right one.
  */
class RescaleModelSuite extends AnyFunSuite with SeededChecks {
  import RescaleModelSuite._
  import RescaledOperator._

  private val key = Gen.choose(0, 60).map(n => s"k$n")

  private def change(names: Seq[String]): Gen[Change] = {
    val family = Gen.oneOf(names)
    Gen.frequency(
      6 -> Gen.zip(family, key, Gen.alphaNumStr).map { case (f, k, v) => Put(f, k, v) },
      4 -> Gen.zip(family, key, Gen.alphaNumStr).map { case (f, k, v) => Append(f, k, v) },
      3 -> Gen.zip(family, key).map { case (f, k) => Remove(f, k) },
      1 -> Gen.oneOf(names.filter(_ != "default")).map(Drop(_))
    )
  }

  private val counts = Gen.oneOf(1, 2, 3, 4, 5, 6, 8, 12)

  private val step: Gen[Step] = Gen.frequency(
    8 -> Gen.listOf(change(Seq("default", "x", "y"))).map(Batch(_)),
    4 -> Gen.choose(0, 3).map(Maintain(_)),
    2 -> Gen.const(Restart),
    2 -> Gen.zip(counts, Gen.frequency(3 -> true, 1 -> false)).map((Rescale.apply _).tupled)
  )

  private val life = for {
    partitions <- counts
    factor <- Gen.choose(1, 30)
    merges <- Gen.oneOf(true, false)
    steps <- Gen.choose(5, 20).flatMap(Gen.listOfN(_, step))
  } yield Life(partitions, partitions * factor, merges, steps)

  for (ids <- Seq(false, true))
    test(s"rows stay what they are and go where they belong, format ${if (ids) "v2" else "v1"}") {
      forEach(life, 60) { life =>
        val settings = StoreFixture.settings
          .copy(versionsToRetain = 2, snapshotAfterShare = if (life.merges) 1000 else 0.5)
        val operator = new RescaledOperator(life.partitions, life.groups, ids, settings = settings)
        try {
          operator.batch(Nil)
          life.steps.foreach(run(operator, _))
          checkRetained(operator)
          settles(operator, ids)
        } finally operator.close()
      }
    }

  private def run(operator: RescaledOperator, step: Step): Unit = step match {
    case Batch(changes) =>
      operator.batch(changes)
      operator.check()
    case Maintain(which) =>
      operator.maintain(p => p % 4 <= which)
      checkRetained(operator)
    case Restart                => operator.restart()
    case Rescale(to, isDecided) =>
      if (to != operator.partitions) {
        operator.rescale(to, isDecided)
        operator.check()
      }
  }

  private def checkRetained(operator: RescaledOperator): Unit =
    for (v <- math.max(operator.version - 2, 1) to operator.version)
      withClue(s"version $v of ${operator.version}: ")(operator.check(v))

  /** Once all partitions have snapshots of their own, nothing is left of what came before. */
  private def settles(operator: RescaledOperator, ids: Boolean): Unit = {
    for (_ <- 1 to 12) {
      operator.batch(Seq(Put("default", "last", "value")))
      operator.maintain()
    }
    assert(operator.blobs.paths.filter(_.startsWith(PlanName.Folder)).isEmpty)
    val oldest = operator.version - 6
    val stale = operator.blobs.paths.groupBy(path => path.take(path.lastIndexOf('/'))).flatMap {
      case (folder, paths) =>
        val files = paths.flatMap(path => FileKind.parse(path.drop(folder.length + 1)))
        // With ids, what has not changed since is needed, down to its snapshot.
        val base = files.collect {
          case (version, FileKind.Snapshot) if version.version < oldest => version.version
        }.maxOption
        val isUsed = folder.split('/').last.toInt < operator.partitions
        val needed = if (!ids) oldest else base.getOrElse(if (isUsed) 1L else Long.MaxValue)
        files.map(_._1.version).filter(_ < needed).map(version => s"$folder: $version")
    }
    assert(stale.isEmpty)
    checkRetained(operator)
  }
}

private object RescaleModelSuite {
  sealed trait Step
  final case class Batch(changes: List[RescaledOperator.Change]) extends Step

  /** In the partitions that are at most this modulo 4. */
  final case class Maintain(which: Int) extends Step
  case object Restart extends Step
  final case class Rescale(to: Int, isDecided: Boolean) extends Step

  /** @param merges
    *   whether deltas are merged and seldom give way to a snapshot
    */
  final case class Life(partitions: Int, groups: Int, merges: Boolean, steps: List[Step])
}

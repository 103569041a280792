package io.keyfold.store

import scala.collection.mutable

import io.keyfold.errors.StoreError
import io.keyfold.format.{Codec, VersionId}
import org.scalacheck.{Gen, Prop, Test}
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.Checkers

/** Random lives of a store against a plain map per version. ScalaCheck prints the shrunk steps and
  * the seed of a failure.
  */
class StoreModelSuite extends AnyFunSuite with Checkers {
  import StoreFixture._
  import StoreModelSuite._

  test("every retained version loads as it was committed, over restarts and retries") {
    check(
      Prop.forAll(Gen.listOf(healthyStep))(new Run(_).isRight),
      Test.Parameters.default.withMinSuccessfulTests(600)
    )
  }

  test("with damaged files a version loads as it was committed or is refused, never otherwise") {
    check(
      Prop.forAll(Gen.listOf(anyStep))(new Run(_).isRightOrRefused),
      Test.Parameters.default.withMinSuccessfulTests(600)
    )
  }

  private class Run(steps: List[Step]) {
    private val fixture = new StoreFixture
    private val committed = mutable.Map(0L -> Map.empty[String, String])
    private var store = fixture.open()
    private var newest = 0L

    def isRight: Boolean = {
      steps.foreach(step)
      retained.forall(v => fixture.loaded(v) == committed(v))
    }

    def isRightOrRefused: Boolean = {
      try steps.foreach(step)
      catch { case _: StoreError => () }
      retained.forall { v =>
        try fixture.loaded(v) == committed(v)
        catch { case _: StoreError => true }
      }
    }

    private def retained = math.max(1L, newest - settings.versionsToRetain) to newest

    private def step(step: Step): Unit = step match {
      case Commit(changes) =>
        val txn = begin(changes)
        txn.commit()
        newest += 1
        committed(newest) = after(committed(newest - 1), changes)
      case Abort(changes) => begin(changes).abort()
      case Retry(changes) =>
        if (newest > 0) {
          newest -= 1
          this.step(Commit(changes))
        }
      case Restart(codec) =>
        store.close()
        store = fixture.open(settings.copy(codec = codec))
      case Maintain =>
        store.snapshotIfDue()
        store.cleanup()
        ()
      case Damage(file, at) => damage(file, at)
    }

    private def begin(changes: List[Change]) = {
      val txn = store.begin(VersionId(newest))
      changes.foreach {
        case (key, Some(value)) => put(txn, key, value)
        case (key, None)        => remove(txn, key)
      }
      txn
    }

    private def damage(file: Int, at: Int): Unit = {
      val paths = fixture.blobs.paths.filter(fixture.blobs.bytes(_).nonEmpty)
      if (paths.nonEmpty) {
        fixture.blobs.update(paths(file % paths.length)) { bytes =>
          if (at % 5 == 0) bytes.take(at % bytes.length)
          else {
            val i = at % bytes.length
            bytes(i) = (bytes(i) ^ 1 << at % 8).toByte
            bytes
          }
        }
      }
    }
  }
}

private object StoreModelSuite {
  type Change = (String, Option[String])

  sealed trait Step
  final case class Commit(changes: List[Change]) extends Step
  final case class Abort(changes: List[Change]) extends Step

  /** The newest version is committed again, on the one before it, as a failed batch is; or one that
    * has been built on already, as after a rollback.
    */
  final case class Retry(changes: List[Change]) extends Step
  final case class Restart(codec: Codec) extends Step
  case object Maintain extends Step
  final case class Damage(file: Int, at: Int) extends Step

  def after(rows: Map[String, String], changes: List[Change]): Map[String, String] =
    changes.foldLeft(rows) {
      case (before, (key, Some(value))) => before.updated(key, value)
      case (before, (key, None))        => before.removed(key)
    }

  private val change: Gen[Change] = for {
    key <- Gen.choose(0, 12).map(i => s"key$i")
    value <- Gen.option(Gen.choose(0, 99).map(_.toString))
  } yield (key, value)

  private val changes = Gen.choose(0, 6).flatMap(Gen.listOfN(_, change))

  val healthyStep: Gen[Step] = Gen.frequency(
    8 -> changes.map(Commit(_)),
    1 -> changes.map(Abort(_)),
    2 -> changes.map(Retry(_)),
    2 -> Gen.oneOf(Codec.all).map(Restart(_)),
    5 -> Gen.const(Maintain)
  )

  val anyStep: Gen[Step] = Gen.frequency(
    9 -> healthyStep,
    1 -> (for {
      file <- Gen.choose(0, 1000)
      at <- Gen.choose(1, 100000)
    } yield Damage(file, at))
  )
}

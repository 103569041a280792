package io.keyfold.testkit

import scala.util.Random

import org.scalacheck.{Gen, Prop, Shrink, Test}
import org.scalacheck.rng.Seed
import org.scalacheck.util.Pretty
import org.scalatest.Assertions
import org.scalatest.exceptions.TestFailedException

/** Checks over random values. A failure names the seed of its run and the value, shrunk;
  * `SEED=<seed>` in the environment of `testOnly` runs the same values again, `TIMES=<n>` as many
  * as that.
  */
trait SeededChecks { this: Assertions =>

  /** Calls `body`, which fails by assertion or exception, with `times` values.
    *
    * @param shrink
    *   makes smaller values of the same kind; by default none, as ScalaCheck's own do not know what
    *   a generator allows
    */
  def forEach[A](values: Gen[A], times: Int = 100, shrink: Shrink[A] = Shrink.shrinkAny[A])(
      body: A => Any
  ): Unit = {
    val seed = sys.env.get("SEED").fold(Random.nextLong())(_.toLong)
    val property = Prop.forAll(values) { value =>
      try {
        body(value)
        Prop.passed
      } catch {
        case e: TestFailedException =>
          Prop.falsified.label(
            s"${e.getMessage} (${e.failedCodeFileNameAndLineNumberString.orNull})"
          )
      }
    }(identity, shrink, value => Pretty.prettyAny(value))
    val parameters =
      Test.Parameters.default
        .withMinSuccessfulTests(sys.env.get("TIMES").fold(times)(_.toInt))
        .withInitialSeed(Seed(seed))
    val result = Test.check(parameters, property)
    if (!result.passed) fail(s"SEED=$seed gives this again: ${Pretty.pretty(result)}")
  }
}

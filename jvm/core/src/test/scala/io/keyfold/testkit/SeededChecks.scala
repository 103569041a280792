package io.keyfold.testkit

import scala.util.Random

import org.scalacheck.{Gen, Prop, Shrink, Test}
import org.scalacheck.rng.Seed
import org.scalacheck.util.Pretty
import org.scalatest.Assertions
import org.scalatest.exceptions.TestFailedException

/** Checks over random values. A failure names the seed of its run and the value, shrunk;
  * `SEED=<seed>` in the environment of `testOnly` runs the same values again. `TIMES=<n>` goes on
  * until there were so many, `FOR_SECONDS=<n>` so long, in runs with seeds of their own, and prints
  * how far it is.
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
    def run(seed: Long): Unit = SeededChecks.run(values, times, shrink, seed)(body).foreach {
      failure => fail(s"SEED=$seed gives this again: $failure")
    }
    val wanted = sys.env.get("TIMES").map(_.toLong)
    val long = sys.env.get("FOR_SECONDS").map(_.toLong)
    sys.env.get("SEED").filter(_.nonEmpty).map(_.toLong) match {
      case Some(seed)                             => run(seed)
      case None if wanted.isEmpty && long.isEmpty => run(Random.nextLong())
      case None                                   =>
        val start = System.nanoTime
        def seconds = (System.nanoTime - start) / 1000000000L
        var done = 0L
        while (wanted.exists(done < _) || long.exists(seconds < _)) {
          run(Random.nextLong())
          done += times
          println(s"${getClass.getSimpleName}: $done in $seconds s")
        }
    }
  }
}

private object SeededChecks {

  /** @return what failed */
  def run[A](values: Gen[A], times: Int, shrink: Shrink[A], seed: Long)(
      body: A => Any
  ): Option[String] = {
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
      Test.Parameters.default.withMinSuccessfulTests(times).withInitialSeed(Seed(seed))
    val result = Test.check(parameters, property)
    Option.unless(result.passed)(Pretty.pretty(result))
  }
}

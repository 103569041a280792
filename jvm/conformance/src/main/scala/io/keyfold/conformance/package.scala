package io.keyfold

/** Runs test suites of Apache Spark, as published, against a state store provider.
  *
  * [[conformance.Main]] starts one JVM per suite ([[conformance.SuiteMain]]), so that a crash or a
  * hang costs one suite. It may use ScalaTest and nothing of Spark: Spark lives in the suite's JVM.
  */
package object conformance

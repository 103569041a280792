package io.keyfold.conformance

import org.apache.spark.sql.streaming._
import org.scalatest.Tag

/** How a join suite of this line is told to run a test with one kind of state formats. */
trait OneStateFormat extends StreamingJoinSuite {

  /** Each of the functions below adds a test in its own mode only. */
  override protected def testMode: Mode = this match {
    case _: JoinsInFamilies => Mode.WithVCF
    case _                  => Mode.WithoutVCF
  }

  protected def testWithoutFamilies(testName: String, testTags: Tag*)(testBody: => Any): Unit =
    testWithoutVirtualColumnFamilyJoins(testName, testTags: _*)(testBody)

  protected def testWithFamilies(testName: String, testTags: Tag*)(testBody: => Any): Unit =
    testWithVirtualColumnFamilyJoins(testName, testTags: _*)(testBody)
}

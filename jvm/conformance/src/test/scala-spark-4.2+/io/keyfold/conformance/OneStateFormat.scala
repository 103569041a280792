package io.keyfold.conformance

import org.apache.spark.sql.streaming._
import org.scalatest.Tag

/** How a join suite of this line is told to run a test with one kind of state formats. */
trait OneStateFormat extends StreamingJoinSuite {

  /** Of Spark's own choice of formats, which the functions below take no part in. */
  override protected def testMode: Mode = Mode.WithoutVCF

  protected def testWithoutFamilies(testName: String, testTags: Tag*)(testBody: => Any): Unit =
    testWithoutVirtualColumnFamilyJoins(testName, testTags: _*)(testBody)

  protected def testWithFamilies(testName: String, testTags: Tag*)(testBody: => Any): Unit =
    testWithVirtualColumnFamilyJoins(testName, testTags: _*)(testBody)
}

package io.keyfold.conformance

import org.apache.spark.sql.streaming._
import org.scalactic.source.Position
import org.scalatest.Tag

/** How a join suite of this line is told to run a test with one kind of state formats. */
trait OneStateFormat extends StreamingJoinSuite {
  protected def testWithoutFamilies(testName: String, testTags: Tag*)(testBody: => Any)(implicit
      pos: Position
  ): Unit = super.test(testName, testTags: _*)(testBody)
}

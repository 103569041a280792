package io.keyfold.conformance

import org.apache.spark.sql.streaming._
import org.scalactic.source.Position
import org.scalatest.Tag

/** Runs each test of a join suite once, with one store for all that a join keeps: state format 3,
  * or what a suite says. Spark's own subclasses run it twice, for a setting of RocksDB.
  */
trait JoinsInFamilies extends OneStateFormat {
  override protected def test(testName: String, testTags: Tag*)(testBody: => Any)(implicit
      pos: Position
  ): Unit = testWithFamilies(testName, testTags: _*)(testBody)
}

class StreamingInnerJoinV3Suite extends StreamingInnerJoinSuite with JoinsInFamilies
class StreamingOuterJoinV3Suite extends StreamingOuterJoinSuite with JoinsInFamilies
class StreamingFullOuterJoinV3Suite extends StreamingFullOuterJoinSuite with JoinsInFamilies
class StreamingLeftSemiJoinV3Suite extends StreamingLeftSemiJoinSuite with JoinsInFamilies

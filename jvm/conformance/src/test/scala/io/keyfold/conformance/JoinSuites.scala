package io.keyfold.conformance

import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.streaming._
import org.scalactic.source.Position
import org.scalatest.Tag

/** Runs each test of a join suite once for each of the state formats that need no column families,
  * with the configured provider. Spark's own subclasses name the providers in code.
  */
trait JoinsWithStoresOfTheirOwn extends OneStateFormat {

  /** Spark refuses format 1 for all but inner joins. */
  protected def stateFormats: Seq[Int] = Seq(2)

  override protected def test(testName: String, testTags: Tag*)(testBody: => Any)(implicit
      pos: Position
  ): Unit =
    stateFormats.foreach { format =>
      testWithoutFamilies(s"$testName (state format $format)", testTags: _*) {
        withSQLConf(SQLConf.STREAMING_JOIN_STATE_FORMAT_VERSION.key -> format.toString)(testBody)
      }
    }
}

class StreamingInnerJoinV1V2Suite extends StreamingInnerJoinSuite with JoinsWithStoresOfTheirOwn {
  override protected def stateFormats: Seq[Int] = Seq(1, 2)
}

class StreamingOuterJoinV2Suite extends StreamingOuterJoinSuite with JoinsWithStoresOfTheirOwn

class StreamingFullOuterJoinV2Suite
    extends StreamingFullOuterJoinSuite
    with JoinsWithStoresOfTheirOwn

class StreamingLeftSemiJoinV2Suite extends StreamingLeftSemiJoinSuite with JoinsWithStoresOfTheirOwn

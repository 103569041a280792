package io.keyfold.conformance

import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.streaming._
import org.scalactic.source.Position
import org.scalatest.Tag

/** Runs each test of a join suite once for each of the state formats that need no column families,
  * with the configured provider. Spark's own subclasses name the providers in code.
  */
trait JoinsWithStoresOfTheirOwn extends StreamingJoinSuite {

  /** Spark refuses format 1 for all but inner joins. */
  protected def stateFormats: Seq[Int] = Seq(2)

  override protected def testMode: Mode = Mode.WithoutVCF

  override protected def test(testName: String, testTags: Tag*)(testBody: => Any)(implicit
      pos: Position
  ): Unit =
    stateFormats.foreach { format =>
      testWithoutVirtualColumnFamilyJoins(s"$testName (state format $format)", testTags: _*) {
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

/** Runs each test of a join suite once, with one store for all that a join keeps: state format 3,
  * or what a suite says. Spark's own subclasses run it twice, for a setting of RocksDB.
  */
trait JoinsInFamilies extends StreamingJoinSuite {
  override protected def testMode: Mode = Mode.WithVCF

  override protected def test(testName: String, testTags: Tag*)(testBody: => Any)(implicit
      pos: Position
  ): Unit = testWithVirtualColumnFamilyJoins(testName, testTags: _*)(testBody)
}

class StreamingInnerJoinV3Suite extends StreamingInnerJoinSuite with JoinsInFamilies
class StreamingOuterJoinV3Suite extends StreamingOuterJoinSuite with JoinsInFamilies
class StreamingFullOuterJoinV3Suite extends StreamingFullOuterJoinSuite with JoinsInFamilies
class StreamingLeftSemiJoinV3Suite extends StreamingLeftSemiJoinSuite with JoinsInFamilies

class ConfiguredInnerJoinV4Suite extends StreamingInnerJoinV4Suite with JoinsInFamilies
class ConfiguredOuterJoinV4Suite extends StreamingOuterJoinV4Suite with JoinsInFamilies
class ConfiguredFullOuterJoinV4Suite extends StreamingFullOuterJoinV4Suite with JoinsInFamilies
class ConfiguredLeftSemiJoinV4Suite extends StreamingLeftSemiJoinV4Suite with JoinsInFamilies

package io.keyfold.conformance

import org.apache.spark.sql.execution.datasources.v2.state.StateDataSourceReadSuite

/** Spark's tests of snapshots of joins that keep column families, by state format. */
trait JoinSnapshots extends StateDataSourceReadSuite {
  protected def testsOfJoinsInFamilies: Seq[(Int, () => Unit)] =
    Seq(3 -> (() => testSnapshotOnJoinStateV3()), 4 -> (() => testSnapshotOnJoinStateV4()))
}

package io.keyfold.spark.checkpoint

import org.apache.spark.sql.execution.streaming.state.StateStoreId
import org.scalatest.funsuite.AnyFunSuite

class CheckpointPathSuite extends AnyFunSuite {
  private def of(root: String) = CheckpointPath.of(StateStoreId(root, 0, 0)).toString

  test("a checkpoint has the folder of its state, a batch query a folder for itself") {
    assert(of("s3a://bucket/query/state") == "s3a://bucket/query")
    assert(of("file:/data/query/state/") == "file:/data/query")
    assert(of("/tmp/spark-1234") == "/tmp/spark-1234")
  }
}

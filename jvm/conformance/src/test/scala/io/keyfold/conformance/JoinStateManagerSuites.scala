package io.keyfold.conformance

import org.apache.spark.sql.execution.streaming.state._

class ConfiguredJoinStateManagerSuite
    extends SymmetricHashJoinStateManagerSuite
    with ConfiguredForHdfsBacked

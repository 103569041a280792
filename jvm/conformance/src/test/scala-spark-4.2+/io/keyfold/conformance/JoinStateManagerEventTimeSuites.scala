package io.keyfold.conformance

import org.apache.spark.sql.execution.streaming.state._

class ConfiguredJoinStateManagerEventTimeInKeySuite
    extends SymmetricHashJoinStateManagerEventTimeInKeySuite
    with ConfiguredForHdfsBacked

class ConfiguredJoinStateManagerEventTimeInValueSuite
    extends SymmetricHashJoinStateManagerEventTimeInValueSuite
    with ConfiguredForHdfsBacked

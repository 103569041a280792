package io.keyfold.conformance

import org.apache.spark.sql.streaming._

// Spark's suites of transformWithState; the planner lets Keyfold through by its extension.

class KeyfoldTransformWithListStateSuite
    extends TransformWithListStateSuite
    with ConfiguredForRocksDb
class KeyfoldTransformWithMapStateSuite extends TransformWithMapStateSuite with ConfiguredForRocksDb
class KeyfoldTransformWithListStateTTLSuite
    extends TransformWithListStateTTLSuite
    with ConfiguredForRocksDb
class KeyfoldTransformWithMapStateTTLSuite
    extends TransformWithMapStateTTLSuite
    with ConfiguredForRocksDb
class KeyfoldTransformWithValueStateTTLSuite
    extends TransformWithValueStateTTLSuite
    with ConfiguredForRocksDb
class KeyfoldTransformWithStateUnsafeRowSuite
    extends TransformWithStateUnsafeRowSuite
    with ConfiguredForRocksDb
class KeyfoldTransformWithStateAvroSuite
    extends TransformWithStateAvroSuite
    with ConfiguredForRocksDb
class KeyfoldTransformWithStateChainingSuite
    extends TransformWithStateChainingSuite
    with ConfiguredForRocksDb
class KeyfoldTransformWithStateInitialStateSuite
    extends TransformWithStateInitialStateSuite
    with ConfiguredForRocksDb
class KeyfoldTransformWithStateValidationSuite
    extends TransformWithStateValidationSuite
    with ConfiguredForRocksDb

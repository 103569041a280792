package io.keyfold.spark.plan

import org.apache.spark.sql.execution.ColumnarRule

/** Changes nothing: transformWithState runs with every provider that can. */
object RuleOfLine extends ColumnarRule

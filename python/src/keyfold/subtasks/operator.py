"""Puts an operator with state of its subtasks into a streaming query."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, cast

from keyfold.errors import ClassicSessionError, OperatorNameError
from keyfold.flink import check_parallelism
from keyfold.session import bridge
from keyfold.subtasks.declared import states_of
from keyfold.subtasks.packed import TAGGED, copying, dealing, unpack
from keyfold.subtasks.place import place_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType

    from keyfold.subtasks.function import OperatorFunction

SAID: Final = "keyfold.subtasks"
"""What the JVM reads when the query starts, in the metadata of a column: PlannedSubtasks.scala."""


def with_operator_state(  # noqa: PLR0913 - all but three by name
    df: DataFrame,
    function: OperatorFunction,
    schema: str | StructType,
    *,
    parallelism: int,
    max_parallelism: int = 128,
    broadcast: DataFrame | None = None,
    route: str | None = None,
    event_time: str | None = None,
    name: str | None = None,
) -> DataFrame:
    """A streaming DataFrame of what the subtasks of an operator yield for the rows of another.

    Row i of a batch's map task t goes to subtask `(t + i) % parallelism`; each batch begins anew.
    A subtask takes its rows in the order of map tasks and then as they come, after the batch's rows
    of the broadcast stream, which every subtask gets.

    Args:
        df: a streaming DataFrame, classic or Connect. The workers need this package.
        function: the work of a subtask.
        schema: of the output, as DDL or a StructType.
        parallelism: number of subtasks. If the state in the query's checkpoint has another, it is
            redistributed when the query starts, as by `keyfold.redistribute`.
        max_parallelism: the largest parallelism that `keyfold.redistribute` takes from then on.
        broadcast: another streaming DataFrame, whose rows go to every subtask.
        route: a column of integers without nulls; a row goes to subtask `value % parallelism`.
        event_time: a column of timestamps of the output that gets the watermark of `df`, for
            windows and other operators of Spark that need one after this operator. They drop what
            is yielded behind the watermark, as late rows.
        name: unique in the query, letters, digits and underscores; by default the function's class.

    Raises:
        InvalidArgumentError: an argument is invalid, or a state has an invalid name, schema or
            redistribution.
        OperatorOutputError: `open` returns something, as it does if it contains `yield`.
        OperatorStateValueError: `open` stores a row that does not fit.
        OperatorNameError: `df` or `broadcast` contains an operator of that name.
        ClassicSessionError: the session is one of Spark Connect, of PySpark 4.0.
        SparkVersionError: PySpark is not installed.
    """
    jvm = bridge()

    from keyfold.subtasks import arguments  # noqa: PLC0415 - needs PySpark

    inputs = [df] if broadcast is None else [df, broadcast]
    for it in inputs:
        arguments.check_input(it)
    arguments.check_function(function)
    called = type(function).__name__ if name is None else name
    arguments.check_name(called)
    check_parallelism(max_parallelism, parallelism)
    column = f"rows_for_{called}"
    for it in inputs:
        if jvm.has_column(it, column):
            raise OperatorNameError(
                f"The query has an operator {called!r} already. Give one of them another name."
            )
    arguments.check_route(df, route)
    what = f"the output of operator {called!r}"
    output = arguments.schema_of(what, schema)
    arrow = arguments.arrow_schema(what, output)
    marked = arguments.with_event_time(output, event_time, df)
    states = states_of(function, called, parallelism)

    from pyspark.sql.types import BinaryType, StructField, StructType  # noqa: PLC0415 - needs PySpark

    from keyfold.subtasks.processor import SubtaskProcessor, task_number  # noqa: PLC0415

    places = [place_of(subtask) for subtask in range(parallelism)]
    said = {SAID: {"operator": called, "places": places}}
    tagged = cast("StructType", StructType.fromDDL(f"{TAGGED}, {column} binary"))
    dealt = StructType([*tagged.fields[:-1], StructField(column, BinaryType(), metadata=said)])
    rows = df.mapInArrow(dealing(column, parallelism, route, task_number), dealt)
    if broadcast is not None:
        rows = rows.union(broadcast.mapInArrow(copying(column, parallelism, task_number), tagged))
    bounds = (parallelism, max_parallelism)
    processor = SubtaskProcessor(function, called, column, bounds, states, (output, arrow))
    grouped = rows.groupBy("subtask", "place")
    if not hasattr(grouped, "transformWithStateInPandas"):
        raise ClassicSessionError(
            f"Spark Connect of PySpark {jvm.pyspark_version()} has no transformWithStateInPandas, "
            "by which the operator runs. Use Spark 4.1 or later, or start the query with "
            "spark-submit, or from a session of SparkSession.builder.master(...)."
        )
    return grouped.transformWithStateInPandas(
        processor, "rows binary", "update", "none"
    ).mapInArrow(unpack, marked)

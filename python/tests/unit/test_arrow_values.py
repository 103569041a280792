"""Moments that Spark has and Python has not."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import Any

import pyarrow as pa
import pytest

import keyfold
from keyfold.cli.output import JsonOutput, TextOutput
from keyfold.text.arrow_values import to_pandas, to_python
from keyfold.text.html_table import html_of_arrow

LATE = 1 << 62
MOMENT = pa.timestamp("us", tz="UTC")


def _moments(*values: int | None) -> pa.Array:
    return pa.array(values, pa.int64()).view(MOMENT)


CASES: list[tuple[pa.Array, list[Any]]] = [
    (_moments(LATE, None, 0), [LATE, None, datetime(1970, 1, 1, tzinfo=timezone.utc)]),
    (pa.array([1 << 30], pa.int32()).view(pa.date32()), [1 << 30]),
    (pa.StructArray.from_arrays([_moments(-LATE), pa.array(["x"])], ["at", "x"]),
     [{"at": -LATE, "x": "x"}]),
    (pa.ListArray.from_arrays([0, 2], _moments(LATE, None)), [[LATE, None]]),
    (pa.MapArray.from_arrays([0, 1], pa.array(["a"]), _moments(LATE)), [[("a", LATE)]]),
]  # fmt: skip


@pytest.mark.parametrize(("array", "expected"), CASES)
def test_a_moment_out_of_range_is_its_number(
    array: pa.Array, expected: list[Any], capsys: pytest.CaptureFixture[str]
) -> None:
    assert to_python(array) == expected
    table = pa.table({"a": array})
    assert keyfold.to_pylist(table) == [{"a": value} for value in expected]
    frame = to_pandas(table)
    # A list is an array of NumPy's, which holds any time.
    assert pa.types.is_list(array.type) or frame["a"].tolist() == expected
    assert repr(frame)
    assert "<td" in html_of_arrow(table, 9)
    TextOutput().table([table])
    JsonOutput().table([table])
    assert len(capsys.readouterr().out.splitlines()) >= 3


def test_columns_that_pandas_can_hold_are_as_arrow_converts_them() -> None:
    late = pa.array([LATE, None], pa.int64())
    table = pa.table({
        "fits": _moments(0, None),
        "local": late.view(pa.timestamp("us")),
        "late": _moments(LATE, 0),
        "takes": late.view(pa.duration("us")),
        "number": pa.array([1, 2], pa.int8()),
    })  # fmt: skip
    frame = to_pandas(table)
    assert frame.columns.tolist() == table.schema.names
    assert frame["late"].tolist() == [LATE, datetime(1970, 1, 1, tzinfo=timezone.utc)]
    others = ["fits", "local", "takes", "number"]
    assert frame[others].equals(table.select(others).to_pandas())
    assert keyfold.to_pylist(table.slice(1)) == table.slice(1).to_pylist()

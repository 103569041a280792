"""Moments that Spark has and Python has not."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import Any

import pyarrow as pa
import pytest

from keyfold.cli.output import JsonOutput, TextOutput
from keyfold.text.arrow_values import to_python
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
    assert "<td" in html_of_arrow(table, 9)
    TextOutput().table([table])
    JsonOutput().table([table])
    assert len(capsys.readouterr().out.splitlines()) >= 3

from __future__ import annotations

import pyarrow as pa  # type: ignore[import-untyped]
import pytest

from keyfold.text.json_text import json_text, parse_object


@pytest.mark.parametrize(
    "text",
    [
        '{"a":' + "[" * 200 + "]" * 200 + "}",
        '{"a":' * 201 + "1" + "}" * 201,
        "[" * 100_000 + "]" * 100_000,
        '{"a":' * 100_000,
        '{"a": NaN}',
        '{"a": [Infinity]}',
        '{"a": 1e999}',
        '{"a": ' + "9" * 5000 + "}",
        f'{{"a": {1 << 63}}}',
        '{"a": "\\ud800"}',
        '{"\\udc00": 1}',
        "",
        "{",
        "[1]",
        "1",
    ],
)
def test_what_somebody_would_stumble_over_is_refused(text: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - whose message is that of the JSON module
        parse_object(text)


def test_json_is_read() -> None:
    assert parse_object('{"a": [1, -2.5, null, true, "\\ud83d\\ude00"]}') == {
        "a": [1, -2.5, None, True, "\U0001f600"]
    }
    assert parse_object(f'{{"a": {(1 << 63) - 1}}}') == {"a": (1 << 63) - 1}
    parse_object('{"a":' * 199 + "1" + "}" * 199)


def test_a_map_is_a_list_of_objects_and_an_interval_one_of_numbers() -> None:
    interval = pa.MonthDayNano([1, 2, 3])
    assert json_text({"m": [("k", [interval])], "i": interval}) == (
        '{"m": [{"key": "k", "value": [[1, 2, 3]]}], "i": [1, 2, 3]}'
    )

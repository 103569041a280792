"""Encodings and rules of placement that speak of columns which a key does not have."""

from __future__ import annotations

import numpy as np
import pytest

from keyfold.rows.arrow import Places
from keyfold.rows.keys import columns_ahead, key_columns
from keyfold.rows.partition_key import columns_of, hash_of_values
from keyfold.schema.data_type import Atomic, Field, Struct
from keyfold.wire.cursor import MalformedError

LONG = Atomic("long")
KEY = Struct((Field("a", LONG, nullable=True), Field("b", LONG, nullable=True)))
NINES = "9" * 5000


@pytest.mark.parametrize(
    "encoding",
    ["prefix:0", "prefix:3", f"prefix:{NINES}", "range:2", "range:0,0", "range:", f"range:{NINES}",
     "range:0,1,2", "prefix:-1", "other"],
)  # fmt: skip
def test_an_encoding_of_other_columns(encoding: str) -> None:
    data = np.zeros(200, np.uint8)
    with pytest.raises(MalformedError):
        key_columns(data, Places(None, 1, 0, 200), np.array([200]), encoding, KEY)


@pytest.mark.parametrize("encoding", ["timestampPrefix", "timestampPostfix", "prefix:1", "range:0"])
def test_an_encoding_of_no_columns(encoding: str) -> None:
    with pytest.raises(MalformedError):
        columns_ahead(encoding, Struct(()))


@pytest.mark.parametrize(
    "rule",
    [
        "first:3",
        f"first:{'9' * 9}",
        "path:2",
        "path:0.0",
        "path:0.1",
        f"path:{'9' * 9}.1",
        "all as 2",
        "all as 0:what",
        "all as ",
        "all as 0;",
        "first:2 as 0",
        "path:0 as 0",
        "constant as 0",
    ],
)
def test_a_rule_of_other_columns(rule: str) -> None:
    with pytest.raises(MalformedError):
        columns_of(rule, KEY)
    with pytest.raises(MalformedError):
        hash_of_values(rule, KEY, {"a": 1, "b": 2})


def test_rules_and_encodings_of_its_own() -> None:
    assert [it.path for it in columns_of("first:2", KEY)] == [(0,), (1,)]
    assert [it.path for it in columns_of("path:1", KEY)] == [(1,)]
    assert [it.path for it in columns_of("all as 1;0:short", KEY)] == [(1,), (0,)]
    assert columns_ahead("prefix:2", KEY) == [0, 1]
    assert columns_ahead("range:1,0", KEY) == [1, 0]

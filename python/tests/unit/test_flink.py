"""Flink's assignment in plain Python; its columns are tested with Spark."""

import json
from pathlib import Path

import pytest

from keyfold import flink
from keyfold.errors import InvalidArgumentError

VECTORS = Path(__file__).parents[3] / "integration-tests" / "cluster" / "vectors"
KEYS = json.loads((VECTORS / "keyed_state.json").read_text())["keys"]


@pytest.mark.parametrize("parallelism", [12, 6])
def test_keys_go_where_flink_has_published_them(parallelism: int) -> None:
    place = flink.partitioner(128, parallelism)
    for it in KEYS:
        assert place(it["key"]) == it[f"operator_at_{parallelism}"], it["key"]


def test_group_is_the_operator_at_full_parallelism() -> None:
    place = flink.partitioner(128, 128)
    assert [place(it["key"]) for it in KEYS] == [it["key_group"] for it in KEYS]


def test_hash_codes_are_those_of_java() -> None:
    # Values from the documentation of java.lang: Boolean 1231 and 1237, Long (v ^ v >>> 32),
    # String s[0]*31^(n-1) + ... over UTF-16 units.
    assert [flink._hash_code(it) for it in (True, False)] == [1231, 1237]
    assert flink._hash_code(-1) == 0xFFFFFFFF
    assert flink._hash_code((1 << 40) + 5) == (1 << 8) ^ 5
    assert flink._hash_code("ab") == 97 * 31 + 98
    assert flink._hash_code("\U0001d11e") == 0xD834 * 31 + 0xDD1E


@pytest.mark.parametrize(
    ("max_parallelism", "parallelism"), [(0, 1), (32769, 1), (128, 0), (128, 129)]
)
def test_numbers_out_of_bounds_are_refused(max_parallelism: int, parallelism: int) -> None:
    with pytest.raises(InvalidArgumentError, match="Invalid"):
        flink.partitioner(max_parallelism, parallelism)


@pytest.mark.parametrize("key", [1.5, None, 1 << 63, b"a"])
def test_a_key_of_another_kind_is_refused(key: object) -> None:
    with pytest.raises(InvalidArgumentError, match="Invalid key"):
        flink.partitioner(128, 12)(key)  # type: ignore[arg-type]

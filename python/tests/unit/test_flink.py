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


# Worked out by hand: ceil(i * 10 / 4) is 0, 3, 5, 8, 10; 128 = 12 * 10 + 8.
def test_ten_groups_over_four_operators_differ_by_formula() -> None:
    assigned = [range(3), range(3, 5), range(5, 8), range(8, 10)]
    assert flink.assigned_ranges(10, 4) == assigned
    remainder_first = [range(3), range(3, 6), range(6, 8), range(8, 10)]
    assert flink.remainder_first_ranges(range(10), 4) == remainder_first


def test_128_groups_over_twelve_operators_differ_by_formula() -> None:
    sizes = [len(it) for it in flink.remainder_first_ranges(range(128), 12)]
    assert sizes == [11] * 8 + [10] * 4
    assigned = [len(it) for it in flink.assigned_ranges(128, 12)]
    assert assigned == [11, 11, 10] * 4


def test_a_range_that_begins_later_is_split_from_its_own_start() -> None:
    assert flink.remainder_first_ranges(range(5, 10), 2) == [range(5, 8), range(8, 10)]


@pytest.mark.parametrize("max_parallelism", [1, 2, 10, 127, 128, 500])
def test_an_operator_is_assigned_the_groups_whose_keys_go_to_it(max_parallelism: int) -> None:
    for parallelism in range(1, max_parallelism + 1):
        ranges = flink.assigned_ranges(max_parallelism, parallelism)
        found = [(group, index) for index, it in enumerate(ranges) for group in it]
        assert found == [(g, g * parallelism // max_parallelism) for g in range(max_parallelism)]


@pytest.mark.parametrize("groups", [range(1), range(128), range(37, 90)])
def test_parts_are_adjacent_and_the_longer_ones_come_first(groups: range) -> None:
    for parts in range(1, len(groups) + 1):
        ranges = flink.remainder_first_ranges(groups, parts)
        assert [group for it in ranges for group in it] == list(groups)
        sizes = [len(it) for it in ranges]
        assert sizes == sorted(sizes, reverse=True)
        assert sizes[0] - sizes[-1] in {0, 1}


def test_from_two_operators_to_three_only_the_groups_move_that_must() -> None:
    # Of 10 groups, 0-4 and 5-9 become 0-3, 4-6 and 7-9: 4 goes to operator 1, 7-9 to the new one.
    moved = {4: (0, 1), 7: (1, 2), 8: (1, 2), 9: (1, 2)}
    assert flink.moved_groups(10, 2, 3) == moved
    assert flink.moved_groups(10, 3, 2) == {group: (b, a) for group, (a, b) in moved.items()}
    assert flink.moved_groups(10, 3, 3) == {}


@pytest.mark.parametrize(
    ("groups", "parts"), [(range(10), 0), (range(10), 11), (range(0, 10, 2), 2), (range(0), 1)]
)
def test_a_split_out_of_bounds_is_refused(groups: range, parts: int) -> None:
    with pytest.raises(InvalidArgumentError, match="Invalid"):
        flink.remainder_first_ranges(groups, parts)


@pytest.mark.parametrize("numbers", [(0, 1, 1), (128, 0, 1), (128, 1, 129), (32769, 1, 1)])
def test_a_change_out_of_bounds_is_refused(numbers: tuple[int, int, int]) -> None:
    with pytest.raises(InvalidArgumentError, match="Invalid"):
        flink.moved_groups(*numbers)
    with pytest.raises(InvalidArgumentError, match="Invalid"):
        flink.assigned_ranges(numbers[0], min(numbers[1:]) if 0 in numbers else max(numbers))


@pytest.mark.parametrize("key", [1.5, None, 1 << 63, b"a"])
def test_a_key_of_another_kind_is_refused(key: object) -> None:
    with pytest.raises(InvalidArgumentError, match="Invalid key"):
        flink.partitioner(128, 12)(key)  # type: ignore[arg-type]

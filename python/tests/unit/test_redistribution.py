"""The rules of redistribution, against what Flink has published."""

import json
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from kit.redistribution import broadcast, split, union

VECTORS = json.loads(
    (
        Path(__file__).parents[3] / "integration-tests/cluster/vectors/operator_state.json"
    ).read_text()
)
LISTS = st.lists(st.lists(st.integers()), min_size=1, max_size=8)
PARALLELISM = st.integers(1, 200)


def test_a_split_list_from_two_subtasks_to_three() -> None:
    # The counts of the vector: each subtask appends its count or replaces it, the last one counts.
    counts = dict(map(tuple, VECTORS["split_list"]["parallelism_2"]))
    before = [[counts[0]], [counts[1]]]
    # Each further record adds one to what the subtask was given.
    after = [sum(it) for it in split(before, 3)]
    assert [[t, count + 1] for t, count in enumerate(after)] == VECTORS["split_list"][
        "then_rescaled_to_3"
    ]


def test_a_union_list_from_two_subtasks_to_three() -> None:
    vector = VECTORS["union_list"]
    before = {it["subtask"]: it["list"] for it in vector["parallelism_2"]}
    after = union([before[0], before[1]], 3)
    for it in vector["then_rescaled_to_3"]:
        assert [*after[it["subtask"]], it["in"][1]] == it["list"]


def test_broadcast_rules_from_two_subtasks_to_four_to_one() -> None:
    vector = VECTORS["broadcast"]

    def maps(stage: str) -> list[dict[str, tuple[str, int]]]:
        return [{k: (rule, t) for k, rule, t in it["rules"]} for it in vector[stage]]

    four = broadcast(maps("parallelism_2"), 4)
    assert four == maps("then_rescaled_to_4")
    assert broadcast(four, 1) == maps("then_rescaled_to_1")


def test_elements_of_a_split_list_are_dealt_in_the_order_of_the_old_subtasks() -> None:
    assert split([["a", "b"], [], ["c", "d", "e"]], 2) == [["a", "c", "e"], ["b", "d"]]


@settings(deadline=None)
@given(LISTS, PARALLELISM)
def test_a_split_neither_loses_nor_repeats_an_element(
    lists: list[list[int]], parallelism: int
) -> None:
    after = split(lists, parallelism)
    assert sorted(e for it in after for e in it) == sorted(e for it in lists for e in it)
    sizes = [len(it) for it in after]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[0] - sizes[-1] <= 1


def test_no_subtask_shares_its_list_or_map_with_another() -> None:
    one, other = union([[1]], 2)
    one.append(2)
    assert other == [1]
    first, second = broadcast([{"a": 1}], 2)
    first["b"] = 2
    assert second == {"a": 1}

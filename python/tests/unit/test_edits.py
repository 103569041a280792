"""What a write would change, of rows that are lists."""

from __future__ import annotations

from keyfold.table.changes import Change
from keyfold.table.edits import changes_of

KEY = {"key": {"user": 1}}


def rows(*elements: int) -> list[dict[str, object]]:
    return [{**KEY, "list_element": {"value": it}} for it in elements]


def stored(*elements: int) -> list[dict[str, object]]:
    return [{**it, "partition_id": 3} for it in rows(*elements)]


def shown(old: list[dict[str, object]], new: list[dict[str, object]]) -> list[str]:
    def value(row: dict[str, object] | None) -> object:
        return row and row["list_element"]["value"]  # type: ignore[index]

    return [f"{it.value} {value(a)} {value(b)}" for it, a, b in changes_of(old, new)]


def test_elements_that_go_and_come() -> None:
    assert shown(stored(1, 2, 2), rows(2, 3, 4)) == [
        "deleted 1 None", "deleted 2 None", "inserted None 3", "inserted None 4",
    ]  # fmt: skip
    assert shown(stored(1, 2), rows(1, 5)) == ["updated 2 5"]
    assert shown(stored(1, 2), rows(1, 2)) == []


def test_another_order_is_a_change_of_all() -> None:
    assert shown(stored(1, 2), rows(2, 1)) == [
        "deleted 1 None", "deleted 2 None", "inserted None 2", "inserted None 1",
    ]  # fmt: skip


def test_a_change_is_no_member_of_another() -> None:
    assert {it for it, _, _ in changes_of(stored(1), [])} == {Change.DELETED}

"""The comparison: it must see every difference it is there to see."""

import pyarrow as pa  # type: ignore[import-untyped]

from demo.compare import Verdict, compare


def table(*rows: tuple[str, int | None]) -> pa.Table:
    return pa.table({"name": [name for name, _ in rows], "value": [value for _, value in rows]})


def verdict(found: pa.Table, expected: pa.Table) -> Verdict:
    return compare("query", "reference", found, expected)


def test_order_of_rows_and_columns_does_not_matter_and_missing_values_are_equal() -> None:
    found = table(("a", 1), ("b", None))
    expected = table(("b", None), ("a", 1)).select(["value", "name"])
    assert verdict(found, expected).exact


def test_a_changed_value_is_one_row_missing_and_one_unexpected() -> None:
    result = verdict(table(("a", 1), ("b", 2)), table(("a", 1), ("b", None)))
    assert (result.missing, result.unexpected, result.exact) == (1, 1, False)


def test_a_row_twice_is_not_a_row_once() -> None:
    result = verdict(table(("a", 1), ("a", 1)), table(("a", 1)))
    assert (result.missing, result.unexpected, result.exact) == (0, 1, False)


def test_lost_rows_are_counted() -> None:
    result = verdict(table(("a", 1)), table(("a", 1), ("b", 2), ("b", 2)))
    assert (result.missing, result.unexpected, result.exact) == (2, 0, False)


def test_two_empty_answers_prove_nothing() -> None:
    empty = table(("a", 1)).slice(0, 0)
    assert not verdict(empty, empty).exact

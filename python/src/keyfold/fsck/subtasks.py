"""Checks what the subtasks of an operator keep of themselves: docs/operator-state.md."""

from __future__ import annotations

from collections.abc import Iterator

from keyfold.format.footer import Family
from keyfold.layout.layout import Layout
from keyfold.state.entries import Rows
from keyfold.subtasks.declared import SUBTASK_OF

_COLUMNS = ("parallelism", "max_parallelism")


def wrong_subtasks(layout: Layout, rows: Rows, family: Family) -> Iterator[str]:
    """What is wrong with the row of a subtask: no start and no redistribution could go by it.

    Raises MalformedError if the rows do not fit the schema.
    """
    is_own = layout.family.startswith(SUBTASK_OF) and set(_COLUMNS) <= set(
        layout.schema.value.names
    )
    if not is_own or "subtask" not in layout.schema.key.names:
        return
    subtasks = layout.key_array(rows, family).field("subtask").to_pylist()
    values = layout.value_array(rows, family)
    said = zip(*(values.field(it).to_pylist() for it in _COLUMNS), strict=True)
    for subtask, (parallelism, most) in zip(subtasks, said, strict=True):
        if not 0 <= subtask < parallelism <= most:
            yield (
                f"subtask {subtask} says in {layout.family} that the operator has {parallelism} "
                f"subtasks, of at most {most}"
            )

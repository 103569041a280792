"""Results of operations: from the JVM's answer, and as text for a terminal."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import fields
from typing import Any, TypeVar

from keyfold.text.printable import printable

T = TypeVar("T")

_LABEL = 13
_WORD_ENDS = re.compile(r"(?<=[a-z])(?=[A-Z])")
# A word of Python's cannot be the name of a field.
_NAMES = {"from": "before", "to": "after"}


def result(kind: type[T], answer: Mapping[str, Any], **other: object) -> T:
    """A dataclass of the fields that the JVM's answer has under the same names.

    Args:
        kind: the dataclass.
        answer: names have the spelling of Scala; a list becomes a tuple, a refusal its reason.
        other: fields that the answer has in another form.
    """
    its = {_name_of(name): it for name, it in answer.items()} | other
    return kind(
        **{it.name: _plain(its[it.name]) for it in fields(kind) if it.name in its}  # type: ignore[arg-type]
    )


def _name_of(field: str) -> str:
    return _NAMES.get(field) or _WORD_ENDS.sub("_", field).lower()


def _plain(value: object) -> object:
    if not isinstance(value, list):
        return value
    return tuple(it["reason"] if isinstance(it, dict) else it for it in value)


def lines(rows: Iterable[tuple[str, str]], *, applied: bool, refusals: Iterable[str] = ()) -> str:
    """A line for each label and text, and for each refusal; a plan says that it is none."""
    every = [*rows, *(("refused", it) for it in refusals)]
    if not applied and not refusals:
        every.append(("not done", "this is a plan; pass --apply, or dry_run=False"))
    return printable("\n".join(f"{label:<{_LABEL}}{text}" for label, text in every))

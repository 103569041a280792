"""Flink's rules for operator state at a change of parallelism, in plain Python.

Before and after are lists with one entry for each subtask, in the subtasks' order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeVar

T = TypeVar("T")
K = TypeVar("K")
V = TypeVar("V")


def split(lists: Sequence[Sequence[T]], parallelism: int) -> list[list[T]]:
    """Element i of all lists, one after the other, goes to subtask `i % parallelism`."""
    elements = _one_after_the_other(lists)
    return [elements[subtask::parallelism] for subtask in range(parallelism)]


def union(lists: Sequence[Sequence[T]], parallelism: int) -> list[list[T]]:
    """Every subtask gets all lists, one after the other."""
    return [_one_after_the_other(lists) for _ in range(parallelism)]


def broadcast(maps: Sequence[Mapping[K, V]], parallelism: int) -> list[dict[K, V]]:
    """Subtask t gets a copy of the map of the old subtask `t % len(maps)`."""
    return [dict(maps[subtask % len(maps)]) for subtask in range(parallelism)]


def _one_after_the_other(lists: Sequence[Sequence[T]]) -> list[T]:
    return [element for it in lists for element in it]

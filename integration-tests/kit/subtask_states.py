"""An operator with a state of each kind, and what a checkpoint has of it."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from typing import Any

import pyarrow as pa  # type: ignore[import-untyped]
from pyspark.cloudpickle import register_pickle_by_value

import keyfold
from kit import redistribution

# Workers do not have the tests' modules.
register_pickle_by_value(sys.modules[__name__])

BUG = "a bug in the new release"

State = dict[str, list[Any]]
"""By name of the state, what each subtask has."""


class Keeps(keyfold.OperatorFunction):
    """Keeps values from 0 on in a state of each kind."""

    def open(self, ctx: keyfold.OperatorContext) -> None:
        self.dealt = ctx.list_state("dealt", "v int")
        self.all = ctx.list_state("all", "v int", redistribute="union")
        self.rules = ctx.broadcast_state("rules", "k int", "v int")

    def process(self, batches: Iterator[pa.RecordBatch]) -> None:
        for batch in batches:
            for v in batch.column("v").to_pylist():
                if v >= 0:
                    self.dealt.add(v)
                    self.all.add(v)
                    self.rules.put((v,), (v,))


class Raises(Keeps):
    """Has the states of `Keeps`, and fails in each batch."""

    def process(self, batches: Iterator[pa.RecordBatch]) -> None:  # noqa: ARG002
        raise ValueError(BUG)


def state_of(checkpoint: str | os.PathLike[str], operator: str) -> State:
    """What `Keeps` has in the query's last batch, read without Spark."""
    [found] = keyfold.open_checkpoint(checkpoint).operators
    own = found[f"subtask_of_{operator}"].scan().to_arrow().to_pylist()
    assert {it["value"]["parallelism"] for it in own} == {len(own)}
    state: State = {name: [[] for _ in own] for name in ("dealt", "all")}
    for name, lists in state.items():
        for row in found[name].scan().to_arrow().to_pylist():
            lists[row["key"]["subtask"]].append(row["list_element"]["v"])
    state["rules"] = [{} for _ in own]
    for row in found["rules"].scan().to_arrow().to_pylist():
        state["rules"][row["key"]["subtask"]][row["user_map_key"]["k"]] = row["user_map_value"]
    return state


def redistributed(state: State, parallelism: int) -> State:
    if len(state["all"]) == parallelism:
        return state
    return {
        "dealt": redistribution.split(state["dealt"], parallelism),
        "all": redistribution.union(state["all"], parallelism),
        "rules": redistribution.broadcast(state["rules"], parallelism),
    }

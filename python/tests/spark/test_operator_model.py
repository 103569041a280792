"""Random operators, states, parallelisms, kills and changes, beside a plain model.

KEYFOLD_OPERATOR_RUNS random queries of KEYFOLD_OPERATOR_STEPS batches each, from KEYFOLD_SEED.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pytest
from pyspark.cloudpickle import register_pickle_by_value
from pyspark.sql import DataFrame, SparkSession

import keyfold
from keyfold.subtasks import redistribution
from kit.session import NEEDS_JAR
from python.tests.spark.subtasks import Query

pytestmark = NEEDS_JAR
register_pickle_by_value(sys.modules[__name__])

RUNS = int(os.environ.get("KEYFOLD_OPERATOR_RUNS", "2"))
STEPS = int(os.environ.get("KEYFOLD_OPERATOR_STEPS", "4"))
FIRST_SEED = int(os.environ.get("KEYFOLD_SEED", "1"))
MOST = 200

SCHEMAS = ("a int", "a string, b double", "a array<int>", "a struct<x: long, y: string>")
Op = list[Any]
Specs = dict[str, tuple[str, str]]
"""By name, how a state is redistributed, and the schema of a value."""
States = list[dict[str, Any]]
"""For each subtask by name a list or a map."""


class Applies(keyfold.OperatorFunction):
    """Does to its states what its rows say."""

    def __init__(self, specs: Specs) -> None:
        self.specs = specs

    def open(self, ctx: keyfold.OperatorContext) -> None:
        self.states: dict[str, Any] = {}
        for name, (rule, schema) in self.specs.items():
            if rule == "broadcast":
                self.states[name] = ctx.broadcast_state(name, "k string", schema)
            else:
                self.states[name] = ctx.list_state(name, schema, redistribute=rule)  # type: ignore[arg-type]

    def process_broadcast(self, batches: Iterator[pa.RecordBatch]) -> None:
        self.process(batches)

    def process(self, batches: Iterator[pa.RecordBatch]) -> None:
        for batch in batches:
            for verb, name, *arguments in map(json.loads, batch.column("op").to_pylist()):
                state = self.states[name]
                if verb == "add":
                    state.add_all(map(tuple, arguments[0]))
                elif verb == "update":
                    state.update(map(tuple, arguments[0]))
                elif verb == "keep":
                    state.update(state.get()[-arguments[0] :])
                elif verb == "put":
                    state.put((arguments[0],), tuple(arguments[1]))
                elif verb == "remove":
                    state.remove((arguments[0],))
                else:
                    state.clear()


def modelled(state: Any, verb: str, arguments: list[Any]) -> Any:
    """What becomes of a list or a map."""
    if verb == "add":
        return state + arguments[0]
    if verb == "update":
        return arguments[0]
    if verb == "keep":
        return state[-arguments[0] :]
    if verb == "put":
        return state | {arguments[0]: arguments[1]}
    if verb == "remove":
        return {key: value for key, value in state.items() if key != arguments[0]}
    return []


def redistributed(before: States, specs: Specs, parallelism: int) -> States:
    rules: dict[str, Any] = {
        "split": redistribution.split,
        "union": redistribution.union,
        "broadcast": redistribution.broadcast,
    }
    after = {
        name: rules[rule]([it[name] for it in before], parallelism)
        for name, (rule, _) in specs.items()
    }
    return [{name: after[name][subtask] for name in specs} for subtask in range(parallelism)]


class Rows:
    """Random rows of a batch."""

    def __init__(self, random: Random, specs: Specs) -> None:
        self.random, self.specs = random, specs

    def own(self) -> list[tuple[int, Op]]:
        lists = [name for name, (rule, _) in self.specs.items() if rule != "broadcast"]
        return [(self.random.randrange(MOST), self._of_list(lists)) for _ in range(12 * len(lists))]

    def broadcast(self) -> list[Op]:
        maps = [name for name, (rule, _) in self.specs.items() if rule == "broadcast"]
        unions = [name for name, (rule, _) in self.specs.items() if rule == "union"]
        # A list that is given to all is cut by all, or it would grow beyond bounds.
        cuts: list[Op] = [["keep", name, self.random.randint(1, 3)] for name in unions]
        return [self._of_map(self.random.choice(maps)) for _ in range(4 * len(maps))] + cuts

    def _of_list(self, names: list[str]) -> Op:
        name = self.random.choice(names)
        verb = self.random.choice(["add", "add", "add", "update", "clear"])
        if verb == "clear":
            return [verb, name]
        return [verb, name, [self._value(name) for _ in range(self.random.randrange(5))]]

    def _of_map(self, name: str) -> Op:
        key = self.random.choice("abcdef")
        if self.random.random() < 0.3:
            return ["remove", name, key]
        return ["put", name, key, self._value(name)]

    def _value(self, name: str) -> list[Any]:
        number = self.random.randrange(-9, 10)
        return {
            "a int": [number],
            "a string, b double": [str(number) * 3, number / 2],
            "a array<int>": [[number] * (abs(number) % 3)],
            "a struct<x: long, y: string>": [[number, str(number)]],
        }[self.specs[name][1]]


def found(checkpoint: Path, specs: Specs, parallelism: int) -> States:
    """The state in the checkpoint."""
    [operator] = keyfold.open_checkpoint(checkpoint).operators
    states: States = [
        {name: {} if rule == "broadcast" else [] for name, (rule, _) in specs.items()}
        for _ in range(parallelism)
    ]
    for name, (rule, _) in specs.items():
        for row in operator[name].scan().to_arrow().to_pylist():
            own = states[row["key"]["subtask"]]
            if rule == "broadcast":
                own[name][row["user_map_key"]["k"]] = plain(row["user_map_value"])
            else:
                own[name].append(plain(row["list_element"]))
    return states


def plain(row: Any) -> Any:
    return [plain(it) for it in row.values()] if isinstance(row, dict) else row


@pytest.mark.timeout(600 * RUNS)
@pytest.mark.parametrize("seed", range(FIRST_SEED, FIRST_SEED + RUNS))
def test_states_are_those_of_a_plain_model(spark: SparkSession, tmp_path: Path, seed: int) -> None:
    random = Random(seed)  # noqa: S311
    specs: Specs = {
        f"state{i}": (rule, random.choice(SCHEMAS))
        for i, rule in enumerate(["split", "union", "broadcast", random.choice(["split", "union"])])
    }
    rows = Rows(random, specs)
    query = Query(spark, tmp_path, Applies(specs))
    checkpoint = tmp_path / "checkpoint"

    def df(parallelism: int) -> DataFrame:
        return keyfold.with_operator_state(
            query.source("in", "shard int, op string"),
            query.function,
            "v int",
            parallelism=parallelism,
            max_parallelism=MOST,
            broadcast=query.source("all", "op string"),
            route="shard",
        )

    parallelism = random.randint(1, 5)
    empty = {name: {} if rule == "broadcast" else [] for name, (rule, _) in specs.items()}
    model: States = [empty for _ in range(parallelism)]
    for step in range(STEPS):
        own, broadcast = rows.own(), rows.broadcast()
        query.add("in", [{"shard": shard, "op": json.dumps(op)} for shard, op in own])
        query.add("all", [{"op": json.dumps(op)} for op in broadcast])
        if step and random.random() < 0.5:
            # The driver is killed before the commit, and the batch runs again, in other subtasks.
            query.run(df(parallelism))
            newest = max(checkpoint.glob("commits/[0-9]*"), key=lambda it: int(it.name))
            newest.unlink()
        if step:
            parallelism = random.choice(
                [parallelism, random.randint(1, 9), random.randint(1, MOST)]
            )
            if parallelism != len(model) and random.random() < 0.5:
                keyfold.redistribute(checkpoint, "Applies", parallelism, dry_run=False)
                model = redistributed(model, specs, parallelism)
                assert found(checkpoint, specs, parallelism) == model
        model = redistributed(model, specs, parallelism) if parallelism != len(model) else model
        query.run(df(parallelism))
        for subtask, states in enumerate(model):
            after = dict(states)
            mine = [op for shard, op in own if shard % parallelism == subtask]
            for verb, name, *arguments in [*broadcast, *mine]:
                after[name] = modelled(after[name], verb, arguments)
            model[subtask] = after
        assert found(checkpoint, specs, parallelism) == model, f"seed {seed}, step {step}"

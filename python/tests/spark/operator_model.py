"""A plain model of operators with state of their subtasks, and random ones to compare it with."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from decimal import Decimal
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
from pyspark.cloudpickle import register_pickle_by_value
from pyspark.sql import DataFrame, SparkSession

import keyfold
from kit import redistribution
from kit.subtask_states import BUG
from python.tests.spark.subtasks import Query

register_pickle_by_value(sys.modules[__name__])

MOST = 200
ZONES = ("UTC", "America/New_York", "Asia/Kolkata")
# The night on which New York sets its clocks back.
_NIGHT = datetime(2026, 11, 1, 6, tzinfo=timezone.utc)


def _moment(number: int) -> datetime:
    return _NIGHT + number * timedelta(minutes=15)


# Of a schema, the value of a number.
VALUES: dict[str, Callable[[int], list[Any]]] = {
    "a int": lambda n: [n],
    "a string, b double": lambda n: [str(n) * 3, n / 2],
    "a array<int>": lambda n: [[n] * (abs(n) % 3)],
    "a struct<x: long, y: string>": lambda n: [[n, str(n)]],
    "a timestamp, b timestamp_ntz": lambda n: [_moment(n), _moment(n).replace(tzinfo=None)],
    "a decimal(10, 2), b date": lambda n: [Decimal(n) / 4, _moment(96 * n).date()],
    "a binary, b boolean, c float": lambda n: [bytes([n + 9]), n > 0, n if n % 3 else None],
    "a array<struct<t: timestamp, v: bigint>>": lambda n: [[[_moment(n), n]]],
}
Op = list[Any]
Specs = dict[str, tuple[str, str]]
"""By name, how a state is redistributed, and the schema of a value."""
States = list[dict[str, Any]]
"""For each subtask by name a list, or a map by key, of numbers."""


class Applies(keyfold.OperatorFunction):
    """Does to its states what its rows say."""

    def __init__(self, specs: Specs, zone: str = "UTC", fails_at: int | None = None) -> None:
        """`fails_at`: it raises in `open` of a task if 0, else at that row, or at the last one."""
        self.specs, self.zone, self.fails_at = specs, zone, fails_at

    def open(self, ctx: keyfold.OperatorContext) -> None:
        self.states: dict[str, Any] = {}
        for name, (rule, schema) in self.specs.items():
            if rule == "broadcast":
                self.states[name] = ctx.broadcast_state(name, "k string", schema)
            else:
                self.states[name] = ctx.list_state(name, schema, redistribute=rule)  # type: ignore[arg-type]
        if "pyspark.daemon" in sys.modules or "pyspark.worker" in sys.modules:
            os.environ["TZ"] = self.zone
            time.tzset()
            if self.fails_at == 0:
                raise ValueError(BUG)

    def process_broadcast(self, batches: Iterator[pa.RecordBatch]) -> None:
        self._apply(batches)

    def process(self, batches: Iterator[pa.RecordBatch]) -> None:
        self._apply(batches)
        if self.fails_at is not None:
            raise ValueError(BUG)

    def _apply(self, batches: Iterator[pa.RecordBatch]) -> None:
        ops = (json.loads(it) for batch in batches for it in batch.column("op").to_pylist())
        for row, (verb, name, *arguments) in enumerate(ops, start=1):
            if row == self.fails_at:
                raise ValueError(BUG)
            state, value = self.states[name], VALUES[self.specs[name][1]]
            if verb == "add":
                state.add_all(map(value, arguments[0]))
            elif verb == "update":
                state.update(map(value, arguments[0]))
            elif verb == "keep":
                state.update(state.get()[-arguments[0] :])
            elif verb == "put":
                state.put((arguments[0],), value(arguments[1]))
            elif verb == "remove":
                state.remove((arguments[0],))
            else:
                state.clear()


def _modelled(state: Any, verb: str, arguments: list[Any]) -> Any:
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


def none_of(specs: Specs, parallelism: int) -> States:
    """Subtasks with empty states."""
    return [
        {name: {} if rule == "broadcast" else [] for name, (rule, _) in specs.items()}
        for _ in range(parallelism)
    ]


def redistributed(before: States, specs: Specs, parallelism: int) -> States:
    if parallelism == len(before):
        return before
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


@dataclass(frozen=True)
class Batch:
    """What subtasks are told to do: to those of some numbers, and to all."""

    own: list[tuple[int, Op]]
    broadcast: list[Op]

    def add_to(self, query: Query) -> None:
        query.add("in", [{"shard": shard, "op": json.dumps(op)} for shard, op in self.own])
        query.add("all", [{"op": json.dumps(op)} for op in self.broadcast])

    def after(self, before: States) -> States:
        """The states after it."""
        model = []
        for subtask, states in enumerate(before):
            after = dict(states)
            mine = [op for shard, op in self.own if shard % len(before) == subtask]
            for verb, name, *arguments in [*self.broadcast, *mine]:
                after[name] = _modelled(after[name], verb, arguments)
            model.append(after)
        return model


def random_specs(random: Random) -> Specs:
    rules = ["split", "union", "broadcast", random.choice(["split", "union"])]
    return {f"state{i}": (rule, random.choice(list(VALUES))) for i, rule in enumerate(rules)}


def random_batch(random: Random, specs: Specs) -> Batch:
    lists = [name for name, (rule, _) in specs.items() if rule != "broadcast"]
    maps = [name for name, (rule, _) in specs.items() if rule == "broadcast"]
    unions = [name for name, (rule, _) in specs.items() if rule == "union"]

    def number() -> int:
        return random.randrange(-9, 10)

    def of_list() -> Op:
        verb, name = random.choice(["add", "add", "add", "update", "clear"]), random.choice(lists)
        return [verb, name] + [[number() for _ in range(random.randrange(5))]] * (verb != "clear")

    def of_map() -> Op:
        name, key = random.choice(maps), random.choice("abcdef")
        return ["remove", name, key] if random.random() < 0.3 else ["put", name, key, number()]

    own = [(random.randrange(MOST), of_list()) for _ in range(12 * len(lists))]
    # A list that is given to all is cut by all, or it would grow beyond bounds.
    cuts: list[Op] = [["keep", name, random.randint(1, 3)] for name in unions]
    return Batch(own, [of_map() for _ in range(4 * len(maps))] + cuts)


class ModelledQuery(Query):
    """A query with an operator that has the states `specs`."""

    def __init__(self, spark: SparkSession, root: Path, specs: Specs) -> None:
        super().__init__(spark, root, Applies(specs))
        self.specs = specs

    def df(self, parallelism: int, function: Applies, shards: DataFrame | None = None) -> DataFrame:
        return keyfold.with_operator_state(
            self.source("in", "shard int, op string") if shards is None else shards,
            function,
            "v int",
            parallelism=parallelism,
            max_parallelism=MOST,
            broadcast=self.source("all", "op string"),
            route="shard",
            name="Applies",
        )

    def found(self, parallelism: int) -> States:
        """The states in the checkpoint, with values in place of numbers."""
        [operator] = keyfold.open_checkpoint(self.checkpoint).operators
        states = none_of(self.specs, parallelism)
        for name, (rule, _) in self.specs.items():
            for row in operator[name].scan().to_arrow().to_pylist():
                own = states[row["key"]["subtask"]]
                if rule == "broadcast":
                    own[name][row["user_map_key"]["k"]] = _plain(row["user_map_value"])
                else:
                    own[name].append(_plain(row["list_element"]))
        return states


def valued(model: States, specs: Specs) -> States:
    """The model with values in place of numbers."""

    def of(numbers: Any, schema: str) -> Any:
        value = VALUES[schema]
        if isinstance(numbers, dict):
            return {key: value(it) for key, it in numbers.items()}
        return [value(it) for it in numbers]

    return [{name: of(it[name], schema) for name, (_, schema) in specs.items()} for it in model]


def _plain(row: Any) -> Any:
    """A row as `VALUES` has it."""
    if isinstance(row, dict):
        return [_plain(it) for it in row.values()]
    return [_plain(it) for it in row] if isinstance(row, list) else row

"""JSON with something in it that nobody expects."""

from __future__ import annotations

import json
from random import Random
from typing import Any

from python.tests.fuzz.lies import TEXTS


class _Raw:
    """A piece of JSON as it is to be written."""

    def __init__(self, text: str) -> None:
        self.text = text


_VALUES: list[Any] = [
    *(
        None,
        True,
        False,
        0,
        -1,
        1,
        2,
        7,
        1 << 31,
        (1 << 31) - 1,
        1 << 63,
        (1 << 63) - 1,
        -(1 << 63),
    ),
    *(
        1.5,
        [],
        {},
        [[]],
        [None],
        {"": ""},
        "1",
        "0",
        "-1",
        "100000",
        "2147483647",
        "9" * 5000,
        "²",
        "٣",
    ),
    *map(_Raw, ["1e999", "-1e999", "NaN", "Infinity", "9" * 5000, '"\\ud800"', '"\\u0000"', "1e5"]),
    *(_Raw("[" * depth + "]" * depth) for depth in (90, 199, 201, 900, 100000)),
    *(_Raw('{"type":' * depth + "1" + "}" * depth) for depth in (90, 900, 100000)),
    _Raw('{"type":"array","containsNull":true,"elementType":' * 150 + '"long"' + "}" * 150),
    *("decimal(99,2)", "decimal(0,0)", "decimal(38,99)", "decimal(10,-5)", "void", "struct", "map"),
    *("variant", "interval", "boolean", "string", "binary", "timestamp", "array"),
    *TEXTS,
]


def changed(random: Random, text: str) -> tuple[str, str]:
    """A text of JSON with one value in it, or one key, replaced or gone; and what was done."""
    found = json.loads(text)
    places = list(_places(found, ()))
    path = random.choice(places)
    value = random.choice(_VALUES)
    if not path:
        return "all of it", _written(value)
    parent = found
    for step in path[:-1]:
        parent = parent[step]
    what = random.randrange(8)
    if what == 0:
        del parent[path[-1]]
    elif what == 1 and isinstance(parent, dict):
        parent[random.choice(TEXTS)] = parent.pop(path[-1])
    elif what == 2 and isinstance(parent, list):
        parent.append(parent[path[-1]])
    else:
        parent[path[-1]] = value
    return f"{path} {what} {_written(value)[:60]}", _written(found)


def _places(it: Any, path: tuple[Any, ...]) -> Any:
    yield path
    inner = it.items() if isinstance(it, dict) else enumerate(it) if isinstance(it, list) else ()
    for name, value in inner:
        yield from _places(value, (*path, name))


def _written(it: Any) -> str:
    if isinstance(it, _Raw):
        return it.text
    if isinstance(it, dict):
        return "{" + ",".join(f"{json.dumps(k)}:{_written(v)}" for k, v in it.items()) + "}"
    if isinstance(it, list):
        return "[" + ",".join(map(_written, it)) + "]"
    return json.dumps(it)
